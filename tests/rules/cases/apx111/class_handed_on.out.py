import torch

OPTIMIZERS = {"sgd": torch.optim.SGD, "fused": torch.optim.SGD}
