# expect: review torch has no counterpart
from apex.optimizers import FusedLAMB


def wrap(params):
    return FusedLAMB(params)


if __name__ == "__main__":
    import torch

    wrap(torch.nn.Linear(2, 2).parameters())
