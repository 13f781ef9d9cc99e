# rule: APX111
# expect: info a name spelled like an import of Apex that is none here
import torch


def make(params):
    try:
        from apex.optimizers import FusedSGD as Fused

        optimizer = Fused(params, lr=0.1)
    except ImportError:
        from torch_optimizer import SGDW as Fused

        optimizer = Fused(params, lr=0.1)
    return optimizer
