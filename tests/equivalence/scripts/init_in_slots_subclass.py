# expect: review
# shape: a subclass with __slots__ initializes and overrides backward; its base class trains in float32

import torch
import torch.nn as nn
from apex import amp


class Trainer:
    __slots__ = ("model", "optimizer")

    def __init__(self, model):
        self.model = model.cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.prepare()

    def prepare(self):
        pass

    def backward(self, loss):
        loss.backward()

    def fit(self, batches):
        for i, (x, y) in enumerate(batches):
            loss = nn.functional.mse_loss(self.model(x.cuda()), y.cuda())
            self.optimizer.zero_grad()
            self.backward(loss)
            self.optimizer.step()
            print(type(self).__name__, i, "%.6f" % loss.item())


class AmpTrainer(Trainer):
    __slots__ = ()

    def prepare(self):
        super().prepare()
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def backward(self, loss):
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()


torch.manual_seed(405)
batches = [(torch.randn(4, 3), torch.randn(4, 2)) for _ in range(3)]
for cls in (Trainer, AmpTrainer):
    cls(nn.Linear(3, 2)).fit(batches)
