# expect: safe

import torch
import torch.nn as nn
from apex import amp

from ampctx import maybe_scaled


def main(enabled=True):
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if enabled:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    out = []
    for i in range(4):
        loss = model(torch.randn(4, 3)).pow(2).mean()
        optimizer.zero_grad()
        with maybe_scaled(loss, optimizer, enabled) as scaled:
            scaled.backward()
        optimizer.step()
        out.append(loss.item())
    return out, list(model.parameters())


if __name__ == "__main__":
    print(main())
