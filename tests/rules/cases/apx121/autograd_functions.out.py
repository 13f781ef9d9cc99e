import torch
import torch.nn.functional as F


class Norm(torch.nn.Module):
    def forward(self, x):
        if self.wide:
            return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)
        return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
