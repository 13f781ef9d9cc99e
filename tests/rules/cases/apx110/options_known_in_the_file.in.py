import torch
from apex.optimizers import FusedAdam

options = dict(lr=args.lr, betas=(0.9, 0.95))
if args.weight_decay:
    options["weight_decay"] = args.weight_decay
optimizer = FusedAdam(model.parameters(), **options)
