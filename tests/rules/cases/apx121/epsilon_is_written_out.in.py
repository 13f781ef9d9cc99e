import torch
from apex.normalization import fused_layer_norm, fused_rms_norm, fused_rms_norm_affine

x = fused_layer_norm(x, (8,))
y = fused_rms_norm(x, normalized_shape=(8,), eps=eps)
z = fused_rms_norm_affine(y, weight, (8,), memory_efficient=True)
