# expect: safe

import torch
import torch.nn as nn
from apex import amp

from tabs import fit
from crlf import check


def main():
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    out = fit(model, optimizer)
    return out, check(model, out), list(model.parameters())


if __name__ == "__main__":
    print(main())
