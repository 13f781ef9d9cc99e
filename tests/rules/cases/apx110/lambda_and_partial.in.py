from functools import partial

import torch
from apex.optimizers import FusedAdam

make = partial(FusedAdam, lr=1e-3, betas=(0.9, 0.98))
again = lambda params: FusedAdam(params, lr=1e-3)
