from torch import nn

norm = nn.LayerNorm(8)
other = nn.LayerNorm(8, 1e-6) if args.fused else nn.LayerNorm(8)
asked = nn.LayerNorm(8) if ask("fused?") else nn.LayerNorm(8)
