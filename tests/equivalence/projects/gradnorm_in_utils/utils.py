import math

from apex import amp


def grad_norm(optimizer):
    total = 0.0
    for p in amp.master_params(optimizer):
        if p.grad is not None:
            total += float(p.grad.detach().norm(2)) ** 2
    return math.sqrt(total)


class AverageMeter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, v, n=1):
        self.sum += v * n
        self.count += n

    @property
    def avg(self):
        return self.sum / max(1, self.count)
