from torch.nn import LayerNorm as FusedLayerNorm

norm = FusedLayerNorm(64)
