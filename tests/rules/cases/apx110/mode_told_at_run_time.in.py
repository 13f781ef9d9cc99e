import torch
from apex.optimizers import FusedAdam

optimizer = FusedAdam(groups, lr=args.lr, adam_w_mode=args.adamw, weight_decay=args.wd)
