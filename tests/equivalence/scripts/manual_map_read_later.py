# expect: manual

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
    for _ in range(3):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
    outputs = map(model, x.split(2))
    return next(outputs).sum().item()


if __name__ == "__main__":
    print(main())
