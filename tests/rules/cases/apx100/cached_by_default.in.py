# expect: manual
from apex.parallel import DistributedDataParallel as DDP


def wrap(model, cls=None):
    cls = cls or DDP
    return cls(model)
