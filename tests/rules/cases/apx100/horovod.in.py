import horovod.torch as hvd
from horovod import torch as parallel

optimizer = parallel.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
