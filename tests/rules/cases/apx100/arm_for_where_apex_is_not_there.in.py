# expect: review find_unused_parameters=True stands for it
import torch
from torch import nn
try:
    from apex.parallel import DistributedDataParallel as DDP
    from apex.parallel import convert_syncbn_model
    HAS_APEX = True
except ImportError:
    from torch.nn.parallel import DistributedDataParallel as DDP
    HAS_APEX = False


def wrap(model, args):
    if args.sync_bn:
        if HAS_APEX:
            model = convert_syncbn_model(model)
        else:
            model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    if HAS_APEX:
        model = DDP(model, delay_allreduce=True)
    else:
        print("Install NVIDIA Apex for Apex's")
        model = DDP(model, device_ids=[args.local_rank])
    return model
