import torch
from apex.normalization import FusedLayerNorm


class LayerNorm(FusedLayerNorm):
    """In float32 whatever comes in."""

    def forward(self, x):
        return super().forward(x.float()).type_as(x)
