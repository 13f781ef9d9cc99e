# expect: safe
# shape: an optimizer that wraps another where an option says so, and takes its name; what it does to gradients is in its step
# argv:
# argv: --lars

import sys

import torch
import torch.nn as nn
from torch.optim.optimizer import Optimizer
from apex import amp


class LARS(Optimizer):
    def __init__(self, optimizer, trust=0.1):
        self.optim = optimizer
        self.trust = trust

    @property
    def param_groups(self):
        return self.optim.param_groups

    @property
    def state(self):
        return self.optim.state

    def zero_grad(self):
        self.optim.zero_grad()

    def adapt(self):
        with torch.no_grad():
            for group in self.optim.param_groups:
                for p in group['params']:
                    if p.grad is not None:
                        p.grad = p.grad.mul(self.trust * p.norm() / (p.grad.norm() + 1e-8))

    def step(self, *args, **kwargs):
        self.adapt()
        return self.optim.step(*args, **kwargs)


def build(lars):
    model = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    if lars:
        optimizer = LARS(optimizer)
    return amp.initialize(model, optimizer, opt_level='O1')


def main():
    torch.manual_seed(8)
    model, optimizer = build('--lars' in sys.argv)
    for i in range(6):
        loss = nn.functional.mse_loss(model(torch.randn(3, 4).cuda()), torch.zeros(3, 2).cuda())
        if i == 3:
            loss = loss * float('inf')
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        print(i, '%.6f' % model.weight.sum().item())


main()
