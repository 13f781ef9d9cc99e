from torch import nn


def wrap(net, args):
    return nn.parallel.DistributedDataParallel(
        net, broadcast_buffers=False, find_unused_parameters=args.delay
    )
