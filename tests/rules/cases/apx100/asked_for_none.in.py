import torch

try:
    from apex.parallel import DistributedDataParallel as ApexDDP
except ImportError:
    ApexDDP = None


def wrap(model):
    if ApexDDP is not None:
        return ApexDDP(model)
    return torch.nn.DataParallel(model)
