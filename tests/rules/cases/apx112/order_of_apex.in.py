import torch
from apex.optimizers import FusedAdagrad

optimizer = FusedAdagrad(model.parameters(), 1e-2, 1e-8, 0.1)
