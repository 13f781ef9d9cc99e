import torch

try:
    from apex.optimizers import FusedSGD as SGD
except ImportError:
    from torch.optim import SGD

optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9)
