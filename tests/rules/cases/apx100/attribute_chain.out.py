import torch

model = torch.nn.parallel.DistributedDataParallel(model, broadcast_buffers=False)
