from functools import partial

import torch

make = partial(torch.optim.AdamW, lr=1e-3, betas=(0.9, 0.98), weight_decay=0.0, fused=True)
again = lambda params: torch.optim.AdamW(params, lr=1e-3, weight_decay=0.0, fused=True)
