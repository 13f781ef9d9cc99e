# expect: manual this function is handed on, and torch's takes its arguments in another order
from functools import partial

from apex.normalization.fused_layer_norm import fused_layer_norm_affine

norm = partial(fused_layer_norm_affine, eps=1e-5)
