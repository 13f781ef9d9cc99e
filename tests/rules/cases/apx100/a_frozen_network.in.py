# expect: review no parameter of what is wrapped here requires a gradient
from apex.parallel import DistributedDataParallel


def wrapped(net, target, frozen):
    for p in target.parameters():
        p.requires_grad = False
    frozen.requires_grad_(False)
    net = DistributedDataParallel(net)
    target = DistributedDataParallel(target)
    return net, target, DistributedDataParallel(frozen)
