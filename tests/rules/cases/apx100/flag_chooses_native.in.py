# expect: review delay_allreduce
import torch

try:
    from apex.parallel import DistributedDataParallel as ApexDDP

    has_apex = True
except ImportError:
    has_apex = False

from torch.nn.parallel import DistributedDataParallel as NativeDDP


def wrap(model, args):
    if has_apex:
        # Apex DDP preferred
        model = ApexDDP(model, delay_allreduce=True)
    else:
        model = NativeDDP(model, device_ids=[args.local_rank])
    return model
