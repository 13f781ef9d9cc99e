from torch import nn
from torch.distributed import init_process_group

DDP = nn.parallel.DistributedDataParallel
model = DDP(model, find_unused_parameters=True)
