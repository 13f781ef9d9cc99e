import torch

if torch.cuda.is_available():
    from apex.normalization import FusedLayerNorm as LayerNorm
else:
    from torch.nn import LayerNorm

norm = LayerNorm(8, eps=1e-6)
