import torch

x = torch.nn.functional.layer_norm(x, (8,), eps=1e-6)
y = torch.nn.functional.rms_norm(x, (8,), eps=eps)
z = torch.nn.functional.rms_norm(y, (8,), weight, 1e-6)
