# expect: review torch has no counterpart
from typing import TYPE_CHECKING
from apex.optimizers import FusedLAMB

if TYPE_CHECKING:
    import torch


def wrap(params) -> "torch.optim.Optimizer":
    return FusedLAMB(params)
