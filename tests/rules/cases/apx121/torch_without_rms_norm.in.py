# settings: target_torch=2.0
# expect: manual torch has rms_norm only from 2.4 on
from apex.normalization.fused_layer_norm import fused_rms_norm_affine

x = fused_rms_norm_affine(x, weight, (8,), 1e-5)
