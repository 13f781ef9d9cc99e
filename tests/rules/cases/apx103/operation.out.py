import torch

torch.distributed.all_reduce(count, op=torch.distributed.ReduceOp.SUM)
