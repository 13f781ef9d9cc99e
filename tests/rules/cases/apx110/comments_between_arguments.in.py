import torch
from apex.optimizers import FusedAdam

optimizer = FusedAdam(
    model.parameters(),
    lr=1e-3,
    bias_correction=True,
    # the betas of the paper
    betas=(0.9, 0.98),
    set_grad_none=True,
)
