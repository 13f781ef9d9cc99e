# expect: manual adam_w_mode of the options handed on has no counterpart here
import torch
from apex.optimizers import FusedAdam

optimizer = FusedAdam(model.parameters(), **{"lr": 1e-3, "adam_w_mode": False})
