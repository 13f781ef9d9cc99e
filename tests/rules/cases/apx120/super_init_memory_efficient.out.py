from torch import nn


class Norm(nn.LayerNorm):
    def __init__(self, dim):
        super().__init__(dim)
