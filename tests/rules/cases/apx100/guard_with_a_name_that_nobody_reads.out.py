from torch.nn.parallel import DistributedDataParallel


def wrap(model):
    return DistributedDataParallel(model, broadcast_buffers=False)
