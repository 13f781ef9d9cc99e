import torch.nn as nn
from apex.normalization import FusedLayerNorm


class Block(nn.Module):
    def __init__(self, dim, norm=None):
        super().__init__()
        self.norm = (norm or FusedLayerNorm)(dim)
