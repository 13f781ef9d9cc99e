import torch
from torch import nn


def norm(size, eps=1e-5):
    if torch.cuda.is_available():
        try:
            from apex.normalization import FusedLayerNorm

            return FusedLayerNorm(size, eps)
        except ImportError:
            pass
    return torch.nn.LayerNorm(size, eps)


def wide(size):
    if size > 3:
        from apex.normalization import FusedLayerNorm

        return FusedLayerNorm(size)
    return nn.LayerNorm(size, 1e-6)
