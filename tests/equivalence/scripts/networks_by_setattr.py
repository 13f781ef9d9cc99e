# expect: safe
# shape: networks kept under names put together; optimizers and schedulers in lists that one method goes over
# argv:

import torch
import torch.nn as nn
from apex import amp


class Model:
    def __init__(self):
        self.optimizers, self.schedulers = [], []
        for name in ('A', 'B'):
            setattr(self, 'net_' + name, nn.Linear(3, 2).cuda())
            setattr(self, 'pool_%s' % name, Pool())
        parameters = [*self.net_A.parameters(), *self.net_B.parameters()]
        self.optimizer = torch.optim.SGD(parameters, lr=0.1)
        self.optimizers.append(self.optimizer)

    def setup(self):
        (self.net_A, self.net_B), self.optimizers = amp.initialize([self.net_A, self.net_B], self.optimizers,
                                                                   opt_level='O1')
        self.optimizer, = self.optimizers
        self.schedulers = [torch.optim.lr_scheduler.StepLR(o, 2) for o in self.optimizers]

    def update_learning_rate(self):
        for scheduler in self.schedulers:
            scheduler.step()

    def optimize(self, x, big):
        loss = nn.functional.mse_loss(self.net_A(x), self.net_B(x)) * big
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()
        self.pool_A.query(loss.item())
        return loss.item()


class Pool:
    def __init__(self):
        self.images = []

    def query(self, image):
        self.images.append(image)


def main():
    torch.manual_seed(4)
    model = Model()
    model.setup()
    for i in range(6):
        loss = model.optimize(torch.randn(4, 3).cuda(), float('inf') if i == 3 else 1.0)
        print(i, '%.6f' % loss)
        model.update_learning_rate()
    print(getattr(model, 'net_' + 'A').weight.sum().item())


main()
