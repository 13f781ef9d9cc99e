# expect: review
# differs: weights stdout steps

import torch
import torch.nn as nn
from apex import amp

from guardrail import NanLoss, check
from loops import one_epoch


def main():
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    out = []
    for epoch in range(3):
        try:
            out.append(one_epoch(model, optimizer, bad=epoch == 1))
        except NanLoss as error:
            out.append(-1.0)
    return out, list(model.parameters())


if __name__ == "__main__":
    print(main())
