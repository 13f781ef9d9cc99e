from apex.normalization import FusedLayerNorm
from torch import nn

norm = FusedLayerNorm(8) if args.fused else nn.LayerNorm(8)
other = FusedLayerNorm(8, 1e-6) if args.fused else nn.LayerNorm(8)
asked = FusedLayerNorm(8) if ask("fused?") else nn.LayerNorm(8)
