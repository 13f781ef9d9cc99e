import torch

torch.distributed.all_reduce(grad, op=torch.distributed.ReduceOp.SUM)
