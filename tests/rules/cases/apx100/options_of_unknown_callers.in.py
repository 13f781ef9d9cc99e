# expect: manual what this is called with is not told here
from apex.parallel import DistributedDataParallel as DDP


def wrap(model, **options):
    return DDP(model, **options)
