# expect: review delay_allreduce=True did not mind parameters that get no gradient
import torch
from apex.parallel import DistributedDataParallel as ApexDDP

if args.distributed:
    model = ApexDDP(model, delay_allreduce=True)
