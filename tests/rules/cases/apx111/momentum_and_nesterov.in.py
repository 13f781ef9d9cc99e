import torch
from apex.optimizers import FusedSGD

optimizer = FusedSGD(model.parameters(), args.lr, 0.9, 0.0, args.weight_decay, True)
