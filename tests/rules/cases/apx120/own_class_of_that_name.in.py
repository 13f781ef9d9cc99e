from torch import nn


class FusedLayerNorm(nn.LayerNorm):
    pass


norm = FusedLayerNorm(64)
