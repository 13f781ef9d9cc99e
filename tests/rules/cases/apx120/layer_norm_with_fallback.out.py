from torch.nn import LayerNorm
norm = LayerNorm(8)
