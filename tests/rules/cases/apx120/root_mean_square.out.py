import torch

from torch.nn import RMSNorm

norm = RMSNorm(64, eps=1e-6, elementwise_affine=False)
head = RMSNorm(64, eps=1e-5)
