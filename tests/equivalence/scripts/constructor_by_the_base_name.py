# expect: safe
# shape: a trainer hands model and optimizer to its base by `Base.__init__(self, …)`, the loop is the base's
# casts: real
# argv:

import torch
import torch.nn as nn
from apex import amp


class Base:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer

    def step(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()
        return loss.item()


class Trainer(Base):
    def __init__(self, model, lr):
        optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        Base.__init__(self, model, optimizer)

    def train(self, batches):
        for x, y in batches:
            print("%.6f" % self.step(x, y))


torch.manual_seed(0)
batches = [(torch.randn(4, 3).cuda(), torch.randn(4, 2).cuda()) for _ in range(5)]
batches[1][0][0, 0] = float("inf")
trainer = Trainer(nn.Linear(3, 2).cuda(), 0.1)
trainer.train(batches)
