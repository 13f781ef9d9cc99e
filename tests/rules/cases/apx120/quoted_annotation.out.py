from torch import nn


def build(dim) -> "nn.LayerNorm":
    return nn.LayerNorm(dim)
