# expect: manual an object of Run cannot keep a GradScaler: Strict.__setattr__ may refuse it
import torch
from apex import amp


class Strict:
    def __setattr__(self, name, value):
        raise AttributeError(name)


class Plain:
    pass


class Run(Plain, Strict):
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def step(self, x):
        loss = self.model(x).sum()
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()
