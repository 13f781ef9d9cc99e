import torch
from apex.optimizers import FusedAdam

optimizer = FusedAdam(model.parameters(), lr=1e-3, capturable=True)
