# expect: review options
import torch
from apex.optimizers import FusedAdam


def build(params, **kwargs):
    return FusedAdam(params, **kwargs)
