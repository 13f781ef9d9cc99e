import inspect

import torch
import torch.nn.functional as F


class Norm(torch.nn.Module):
    def forward(self, x):
        return F.layer_norm(x, self.shape, self.weight, self.bias, self.eps)
