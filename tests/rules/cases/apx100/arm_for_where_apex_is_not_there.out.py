import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def wrap(model, args):
    if args.sync_bn:
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    model = DDP(model, broadcast_buffers=False, find_unused_parameters=True)
    return model
