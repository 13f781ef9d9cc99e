from torch.nn import LayerNorm
from torch import nn

layers = nn.ModuleList([LayerNorm(64, eps=1e-5) for _ in range(12)])
head = nn.RMSNorm(64, eps=1e-5)
