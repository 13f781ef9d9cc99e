import torch
from apex.parallel import ReduceOp

torch.distributed.all_reduce(count, op=ReduceOp.SUM)
