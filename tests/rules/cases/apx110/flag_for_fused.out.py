import torch
from torch import optim


def create(name, params, args):
    if name == "fusedadam":
        assert torch.cuda.is_available(), "CUDA required for fused optimizers"
        return optim.Adam(params, lr=args.lr, fused=True)
    return optim.Adam(params, lr=args.lr)
