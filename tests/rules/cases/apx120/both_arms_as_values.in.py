import torch
from torch import nn

have_fused_layer_norm = False
if torch.cuda.is_available():
    try:
        from apex.normalization import FusedLayerNorm

        have_fused_layer_norm = True
    except ImportError:
        pass

LayerNorm = FusedLayerNorm if have_fused_layer_norm else torch.nn.LayerNorm


def make(n):
    return LayerNorm(n)


Other = FusedLayerNorm if ask("fused?") else torch.nn.LayerNorm
