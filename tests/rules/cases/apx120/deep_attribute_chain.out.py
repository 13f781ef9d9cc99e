import torch

norm = torch.nn.LayerNorm([8, 8], 1e-5, True)
