import torch

try:
    from apex.normalization import FusedLayerNorm as LayerNorm
except ImportError:
    from torch.nn import LayerNorm
else:
    print("fused layer norm")

norm = LayerNorm(8)
