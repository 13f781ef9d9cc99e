try:
    from torch.nn.parallel import DistributedDataParallel, DataParallel
except ImportError:
    raise ImportError("Please install torch.")


def wrap(model):
    return DistributedDataParallel(model)
