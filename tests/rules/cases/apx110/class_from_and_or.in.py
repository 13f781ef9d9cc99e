# expect: manual FusedAdam
import torch
from apex.optimizers import FusedAdam


def kind(name):
    return name == "fused" and FusedAdam or torch.optim.Adam
