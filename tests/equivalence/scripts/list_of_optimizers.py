# expect: review: several optimizers share this loss
# shape: a class of the file that is a list of optimizers, and steps them; clipped one by one before
# argv:

import torch
import torch.nn as nn
from apex import amp


class Optimizers(list):
    def zero_grad(self):
        for o in self:
            o.zero_grad()

    def step(self):
        for o in self:
            o.step()

    def set_lr(self, lr):
        for o in self:
            for group in o.param_groups:
                group['lr'] = lr


def main():
    torch.manual_seed(9)
    model = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)).cuda()
    first = torch.optim.SGD(model[0].parameters(), lr=0.1)
    second = torch.optim.Adagrad(model[1].parameters(), lr=0.1)
    both = [first, second]
    model, both = amp.initialize(model, both, opt_level='O1')
    optimizers = Optimizers(both)
    for i in range(6):
        optimizers.set_lr(0.1 / (i + 1))
        loss = nn.functional.mse_loss(model(torch.randn(3, 4).cuda()), torch.zeros(3, 2).cuda())
        if i == 3:
            loss = loss * float('inf')
        optimizers.zero_grad()
        with amp.scale_loss(loss, both) as scaled_loss:
            scaled_loss.backward()
        for o in optimizers:
            nn.utils.clip_grad_norm_(amp.master_params(o), 0.5)
        optimizers.step()
        print(i, '%.6f' % loss.item())


main()
