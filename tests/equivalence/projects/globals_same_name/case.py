# expect: review: what is never scaled now is
# differs: steps, scaling

import torch
import torch.nn as nn
from apex import amp

from work import fit

USE_AMP = True


def main():
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    if USE_AMP:
        model, opt = amp.initialize(model, opt, opt_level="O1")
    return fit(model, opt), list(model.parameters())


if __name__ == "__main__":
    print(main())
