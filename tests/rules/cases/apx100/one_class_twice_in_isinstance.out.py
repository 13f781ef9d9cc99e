from torch.nn.parallel import DistributedDataParallel as DDP


def unwrap(model):
    return model.module if isinstance(model, DDP) else model
