# expect: safe
# shape: slow weights around an optimizer of torch; what its step gives is handed back, and nobody hands a closure
# argv:

import torch
import torch.nn as nn
from apex import amp


class Lookahead:
    def __init__(self, optimizer, k=2, alpha=0.5):
        self.optimizer = optimizer
        self.k, self.alpha, self.counter = k, alpha, 0
        self.slow = [[p.detach().clone() for p in group['params']] for group in optimizer.param_groups]

    def step(self, closure=None):
        loss = self.optimizer.step(closure) if closure is not None else self.optimizer.step()
        self.counter += 1
        if self.counter % self.k == 0:
            for group, slow in zip(self.optimizer.param_groups, self.slow):
                for p, q in zip(group['params'], slow):
                    q += self.alpha * (p.data - q)
                    p.data.copy_(q)
        return loss

    def zero_grad(self):
        self.optimizer.zero_grad()


def main():
    torch.manual_seed(8)
    model = nn.Linear(4, 2).cuda()
    adam = torch.optim.Adam(model.parameters(), lr=0.1)
    model, adam = amp.initialize(model, adam, opt_level='O1')
    optimizer = Lookahead(adam)
    for i in range(6):
        loss = nn.functional.mse_loss(model(torch.randn(3, 4).cuda()), torch.zeros(3, 2).cuda())
        if i == 3:
            loss = loss * float('inf')
        optimizer.zero_grad()
        with amp.scale_loss(loss, adam) as scaled_loss:
            scaled_loss.backward()
        print(i, optimizer.step())
    print(['%.6f' % q.sum().item() for q in optimizer.slow[0]])


main()
