# bug: super().__init__(…, memory_efficient=True) is handed to torch's class
from torch import nn
from apex.normalization import FusedLayerNorm


class Norm(FusedLayerNorm):
    def __init__(self, dim):
        super().__init__(dim, memory_efficient=True)
