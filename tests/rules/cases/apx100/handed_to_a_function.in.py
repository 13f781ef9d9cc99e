# expect: manual what is called here may be DistributedDataParallel or another
from apex.parallel import DistributedDataParallel


def wrapped(kind, model):
    return kind(model)


model = wrapped(DistributedDataParallel, model)
