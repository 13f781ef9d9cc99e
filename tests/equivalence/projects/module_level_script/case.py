# expect: safe

import torch
import torch.nn as nn
from apex import amp

from helpers import accuracy, backward_pass

torch.manual_seed(0)
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
history = []
for it in range(5):
    x, y = torch.randn(4, 4), torch.randint(0, 3, (4,))
    out = net(x)
    loss = nn.functional.cross_entropy(out, y)
    if it == 2:
        loss = loss * 1e37
    optimizer.zero_grad()
    backward_pass(loss, optimizer)
    optimizer.step()
    history.append((loss.item(), accuracy(out, y)))


def main():
    return history, list(net.parameters())


if __name__ == "__main__":
    print(main())
