# expect: manual FusedAdam is handed on here
# expect: manual what is called here may be FusedAdam or another
import torch
from apex.optimizers import FusedAdam

OPTIMIZERS = {"adam": torch.optim.Adam, "fused": FusedAdam}
optimizer = OPTIMIZERS[args.optimizer](model.parameters(), lr=args.lr)
