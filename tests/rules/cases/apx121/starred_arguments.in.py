# expect: manual what this is called with is not told here
from apex.normalization.fused_layer_norm import fused_layer_norm_affine

x = fused_layer_norm_affine(*tensors, (8,))
