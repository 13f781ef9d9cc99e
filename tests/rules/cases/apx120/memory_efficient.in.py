from apex.normalization import MixedFusedLayerNorm as LayerNorm, MixedFusedRMSNorm
from torch import nn

layers = nn.ModuleList([LayerNorm(64, eps=1e-5, memory_efficient=True) for _ in range(12)])
head = MixedFusedRMSNorm(64, memory_efficient=True)
