# expect: safe
# casts: real

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def main():
    torch.manual_seed(0)
    model = nn.Linear(6, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    x, y = torch.rand(4, 6), torch.randint(0, 3, (4,))
    sizes = []
    for _ in range(3):
        views = list(map(model, x.split(2)))
        loss = F.cross_entropy(torch.cat(views), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
    parts = x.split(2)
    sizes.append(torch.cat(list(map(model, parts))).element_size())
    for out in map(model, parts):
        sizes.append(out.element_size())
    for part, out in zip(parts, map(model.forward, parts)):
        sizes.append(out.element_size())
    return sizes + [p.sum().item() for p in model.parameters()]


if __name__ == "__main__":
    print(main())
