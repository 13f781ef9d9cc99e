# expect: review delay_allreduce
from apex import parallel
from torch import nn


def wrap(net, args):
    return parallel.DistributedDataParallel(net, delay_allreduce=args.delay)
