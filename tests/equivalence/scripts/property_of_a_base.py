# expect: safe
# shape: a trainer asks a property of its base for the size of gradients, which another property gathers

import torch
import torch.nn as nn
from apex import amp


class Stateful:
    @property
    def flat(self):
        return [p.grad.view(-1) for p in self.net.parameters() if p.grad is not None]

    @property
    def energy(self):
        return sum(float((g * g).sum()) for g in self.flat)


class Solver(Stateful):
    def __init__(self):
        self.net = nn.Linear(4, 2).cuda()
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.net, self.opt = amp.initialize(self.net, self.opt, opt_level="O1")
        self.best = None

    def iterate(self, x):
        loss = self.net(x).pow(2).mean()
        self.opt.zero_grad()
        with amp.scale_loss(loss, self.opt) as scaled:
            scaled.backward()
        if self.best is None or self.energy < self.best:
            self.best = self.energy
        print(loss.item(), self.best)
        self.opt.step()


def main():
    torch.manual_seed(26)
    solver = Solver()
    for _ in range(5):
        solver.iterate(torch.randn(3, 4).cuda())
    print(solver.net.weight)


main()
