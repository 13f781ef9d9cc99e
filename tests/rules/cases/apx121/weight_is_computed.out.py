import torch

x = torch.nn.functional.layer_norm(x, weight.shape, weight + 1, bias, 1e-5)
