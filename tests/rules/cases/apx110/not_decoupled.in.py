import torch
from apex.optimizers import FusedAdam

optimizer = FusedAdam(model.parameters(), lr=3e-4, adam_w_mode=False, set_grad_none=True)
