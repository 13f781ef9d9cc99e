import torch
from torch import nn


def norm(size, eps=1e-5):
    return torch.nn.LayerNorm(size, eps)


def wide(size):
    if size > 3:
        return nn.LayerNorm(size)
    return nn.LayerNorm(size, 1e-6)
