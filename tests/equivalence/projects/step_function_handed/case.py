# expect: safe

import torch
import torch.nn as nn
from apex import amp

from fitter import Fitter
from steps import mse_step


def main():
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    fitter = Fitter(model, optimizer, step_fn=mse_step)
    out = fitter.fit([(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(4)])
    return out, list(model.parameters())


if __name__ == "__main__":
    print(main())
