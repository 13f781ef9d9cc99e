import torch.nn as nn
from apex.normalization import FusedLayerNorm


class Block(nn.Module):
    def __init__(self, dim, norm_layer=FusedLayerNorm):
        super().__init__()
        self.norm = norm_layer(dim)
