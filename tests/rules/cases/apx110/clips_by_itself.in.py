# expect: review torch has no counterpart: the class ClippingAdam
import torch
from apex.contrib.optimizers import FusedAdam

optimizer = FusedAdam(model.parameters(), lr=1e-4, bias_correction=True, max_grad_norm=1.0)
