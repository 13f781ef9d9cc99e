# expect: manual what derives from it hands its constructor arguments that torch's has not
from torch import nn
from apex.normalization import FusedLayerNorm


class Norm(FusedLayerNorm):
    def __init__(self, dim):
        super().__init__(dim, memory_efficient=True)
