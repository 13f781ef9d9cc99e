import torch

from torch.nn import LayerNorm

print("fused layer norm")

norm = LayerNorm(8)
