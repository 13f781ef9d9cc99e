import torch

# model = apex.parallel.DistributedDataParallel(model, delay_allreduce=True)
model = torch.nn.parallel.DistributedDataParallel(model)
