# expect: manual stands in another file
from apex import amp


def norm(optimizer):
    return sum(p.grad.norm() for p in amp.master_params(optimizer))
