from torch.nn.parallel import DistributedDataParallel


def wrapped(net, target, frozen):
    for p in target.parameters():
        p.requires_grad = False
    frozen.requires_grad_(False)
    net = DistributedDataParallel(net, broadcast_buffers=False)
    target = DistributedDataParallel(target, broadcast_buffers=False)
    return net, target, DistributedDataParallel(frozen, broadcast_buffers=False)
