import torch
from torch import nn

LayerNorm = torch.nn.LayerNorm


def make(n):
    return LayerNorm(n)


Other = nn.LayerNorm if ask("fused?") else torch.nn.LayerNorm
