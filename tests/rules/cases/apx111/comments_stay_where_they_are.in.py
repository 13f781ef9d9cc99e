import torch
from apex.optimizers import FusedSGD

optimizer = FusedSGD(
    model.parameters(),  # all of them
    lr=0.1,  # for a batch of 256
    momentum=0.9,
    # weight_decay=1e-4,
)
