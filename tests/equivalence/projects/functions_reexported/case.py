# expect: manual

import torch
import torch.nn as nn

import amp_compat
from amp_compat import initialize
from epoch import epoch


def main():
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = initialize(model, optimizer, opt_level="O1")
    out = [epoch(model, optimizer) for _ in range(2)]
    norm = sum(float(p.grad.norm()) for p in amp_compat.master_params(optimizer))
    return out, norm, list(model.parameters())


if __name__ == "__main__":
    print(main())
