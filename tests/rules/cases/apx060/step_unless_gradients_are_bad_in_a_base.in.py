# expect: review its skip stayed armed
import math

import torch
from apex import amp


class Base:
    def backward(self, loss):
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        if math.isnan(norm):
            print("NaN")
        else:
            self.optimizer.step()
        return norm


class Solver(Base):
    def __init__(self, model, lr):
        self.lr, self.model = lr, model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def prepare(self, step):
        for group in self.optimizer.param_groups:
            group["lr"] = self.lr / (step + 1)
        self.optimizer.zero_grad()

    def fit(self, loader):
        for step, (x, y) in enumerate(loader):
            self.prepare(step)
            loss = torch.nn.functional.mse_loss(self.model(x), y)
            self.backward(loss)
