from torch.nn.parallel import DistributedDataParallel


def unwrap(model):
    return model.module if isinstance(model, DistributedDataParallel) else model
