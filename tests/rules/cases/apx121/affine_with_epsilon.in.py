import torch.nn.functional as F
from apex.normalization.fused_layer_norm import fused_layer_norm_affine


def norm(x, weight, bias):
    return fused_layer_norm_affine(x, weight, bias, weight.shape, 1e-5)
