# expect: manual this name may be taken from here
from contextlib import suppress

import torch

with suppress(ImportError):
    from apex.optimizers import FusedAdam


def build(params):
    if "FusedAdam" in globals():
        return FusedAdam(params)
    return torch.optim.Adam(params)
