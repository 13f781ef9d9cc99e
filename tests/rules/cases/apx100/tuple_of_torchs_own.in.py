from torch import nn


def is_parallel(model):
    parallel_type = (nn.parallel.DistributedDataParallel, nn.parallel.DistributedDataParallel)
    return isinstance(model, parallel_type)
