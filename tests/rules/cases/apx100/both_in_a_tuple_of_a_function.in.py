from torch import nn


def is_parallel(model):
    """check if model is in parallel mode."""
    import apex

    parallel_type = (
        nn.parallel.DataParallel,
        nn.parallel.DistributedDataParallel,
        apex.parallel.distributed.DistributedDataParallel,
    )
    return isinstance(model, parallel_type)


def kinds():
    import apex

    found = (nn.parallel.DistributedDataParallel, apex.parallel.DistributedDataParallel)
    print(len(found))
    return found
