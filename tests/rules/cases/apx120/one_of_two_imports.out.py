import torch

from torch.nn import LayerNorm

norm = LayerNorm(8, eps=1e-6)
