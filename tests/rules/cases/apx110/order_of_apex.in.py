import torch
from apex.optimizers import FusedAdam

optimizer = FusedAdam(model.parameters(), 1e-3, True, (0.9, 0.98), 1e-6, True, 0.01)
