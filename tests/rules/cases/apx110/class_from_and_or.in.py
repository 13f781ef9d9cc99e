# expect: review this class is handed on
import torch
from apex.optimizers import FusedAdam


def kind(name):
    return name == "fused" and FusedAdam or torch.optim.Adam
