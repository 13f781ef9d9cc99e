# bug: the name is asked for, and is none any more
# expect: manual FusedAdam
from contextlib import suppress

import torch

with suppress(ImportError):
    from apex.optimizers import FusedAdam


def build(params):
    if "FusedAdam" in globals():
        return FusedAdam(params)
    return torch.optim.Adam(params)
