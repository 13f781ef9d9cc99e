import inspect

import torch
import torch.nn.functional as F
from apex.normalization.fused_layer_norm import FusedLayerNormAffineFunction


class Norm(torch.nn.Module):
    def forward(self, x):
        if "memory_efficient" in inspect.getfullargspec(FusedLayerNormAffineFunction.forward).args:
            return FusedLayerNormAffineFunction.apply(x, self.weight, self.bias, self.shape, self.eps, self.saves)
        else:
            return FusedLayerNormAffineFunction.apply(x, self.weight, self.bias, self.shape, self.eps)
