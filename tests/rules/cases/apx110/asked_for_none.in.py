import torch

try:
    from apex.optimizers import FusedAdam
except ImportError:
    FusedAdam = None


def build(params, lr):
    if FusedAdam is not None:
        return FusedAdam(params, lr=lr)
    return torch.optim.SGD(params, lr=lr)
