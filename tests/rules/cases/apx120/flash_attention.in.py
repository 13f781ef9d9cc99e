from flash_attn.ops.layer_norm import DropoutAddLayerNorm, dropout_add_layer_norm
from flash_attn.ops.rms_norm import RMSNorm

norm = RMSNorm(64)
x = dropout_add_layer_norm(x, None, weight, bias, 0.0, 1e-5)
