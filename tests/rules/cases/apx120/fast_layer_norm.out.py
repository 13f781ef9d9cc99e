from torch import nn

norm = nn.LayerNorm(1024, eps=1e-5)
