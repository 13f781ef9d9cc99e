import torch
from torch import nn

fused = torch.cuda.is_available()
LayerNorm = nn.LayerNorm if fused else torch.nn.LayerNorm
