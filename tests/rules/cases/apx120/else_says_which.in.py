# bug: the guard stays around torch's import, with the same one in its handler and the `else`
import torch

try:
    from apex.normalization import FusedLayerNorm as LayerNorm
except ImportError:
    from torch.nn import LayerNorm
else:
    print("fused layer norm")

norm = LayerNorm(8)
