import torch
from apex.optimizers import FusedAdam

optimizer_g = FusedAdam(generator.parameters(), lr=args.lr, betas=(0.5, 0.999))
optimizer_d = FusedAdam(discriminator.parameters(), lr=args.lr, weight_decay=1e-4)
