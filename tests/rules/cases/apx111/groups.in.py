import torch
from apex import optimizers

groups = [{"params": decayed}, {"params": plain, "weight_decay": 0.0}]
optimizer = optimizers.FusedSGD(groups, lr=0.1, momentum=0.9, weight_decay=1e-4, set_grad_none=True)
