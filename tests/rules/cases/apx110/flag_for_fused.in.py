import torch
from torch import optim

try:
    from apex.optimizers import FusedAdam

    has_apex = True
except ImportError:
    has_apex = False


def create(name, params, args):
    if name == "fusedadam":
        assert has_apex and torch.cuda.is_available(), "CUDA required for fused optimizers"
        return FusedAdam(params, adam_w_mode=False, lr=args.lr)
    return optim.Adam(params, lr=args.lr)
