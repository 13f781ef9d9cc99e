# expect: review this class is handed on
import torch
from apex.optimizers import FusedAdam

OPTIMIZERS = {"adam": torch.optim.Adam, "fused": FusedAdam}
optimizer = OPTIMIZERS[args.optimizer](model.parameters(), lr=args.lr)
