from typing import TYPE_CHECKING

from optimizers import FusedLAMB

if TYPE_CHECKING:
    import torch


def wrap(params) -> "torch.optim.Optimizer":
    return FusedLAMB(params)
