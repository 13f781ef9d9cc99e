# expect: manual gradients are summed over the processes
# expect: manual Apex's has no such argument
import torch
try:
    from apex.parallel import DistributedDataParallel as DDP
    HAS_APEX = True
except ImportError:
    from torch.nn.parallel import DistributedDataParallel as DDP
    HAS_APEX = False


def wrap(model, args):
    if HAS_APEX and args.apex_ddp:
        model = DDP(model, gradient_average=False)
    else:
        model = DDP(model, device_ids=[args.local_rank])
    return model
