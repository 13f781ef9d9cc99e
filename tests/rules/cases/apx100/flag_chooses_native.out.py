import torch

from torch.nn.parallel import DistributedDataParallel as NativeDDP


def wrap(model, args):
    # Apex DDP preferred
    model = NativeDDP(model, broadcast_buffers=False, find_unused_parameters=True)
    return model
