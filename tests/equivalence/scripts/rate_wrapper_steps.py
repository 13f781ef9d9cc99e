# expect: safe
# shape: a class of the file sets the learning rate and steps the optimizer it wraps
# argv:

import torch
import torch.nn as nn
from apex import amp


class Warmup:
    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.steps = 0

    def step(self):
        self.steps += 1
        for group in self.optimizer.param_groups:
            group['lr'] = 0.01 * self.steps
        self.optimizer.step()

    def zero_grad(self):
        self.optimizer.zero_grad()


def main():
    torch.manual_seed(8)
    model = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
    warmup = Warmup(optimizer)
    for i in range(4):
        loss = model(torch.randn(3, 4).cuda()).pow(2).mean()
        warmup.zero_grad()
        with amp.scale_loss(loss, warmup.optimizer) as scaled_loss:
            scaled_loss.backward()
        warmup.step()
        print(i, '%.6f' % loss.item())


main()
