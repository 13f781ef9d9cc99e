# expect: safe

import torch
import torch.nn as nn

import precision
from precision import enable


def main():
    torch.manual_seed(0)
    enable()
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if precision.ENABLED:
        model, optimizer = precision.amp.initialize(model, optimizer, opt_level="O1")
    out = []
    for i in range(4):
        loss = model(torch.randn(4, 3)).abs().mean()
        optimizer.zero_grad()
        if precision.ENABLED:
            with precision.amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()
        optimizer.step()
        out.append(loss.item())
    return out, list(model.parameters())


if __name__ == "__main__":
    print(main())
