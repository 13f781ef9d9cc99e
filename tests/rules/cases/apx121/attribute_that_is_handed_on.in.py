# expect: manual this function is handed on, and torch's takes its arguments in another order
import apex


class Norm:
    function = apex.normalization.fused_layer_norm.fused_layer_norm_affine
