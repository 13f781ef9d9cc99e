import torch.nn as nn


class Block(nn.Module):
    def __init__(self, dim, norm=None):
        super().__init__()
        self.norm = (norm or nn.LayerNorm)(dim)
