try:
    from apex.normalization.fused_layer_norm import FusedLayerNorm as LayerNorm
except ImportError:
    from torch.nn import LayerNorm
norm = LayerNorm(8)
