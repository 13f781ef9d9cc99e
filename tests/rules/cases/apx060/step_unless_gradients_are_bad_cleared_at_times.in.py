# expect: manual
import math

import torch
from apex import amp


class Solver:
    def __init__(self, model):
        self.model, self.count = model, 0
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def backward(self, loss):
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        if norm > 100:
            print("too large")
        else:
            self.optimizer.step()
        self.count += 1

    def fit(self, loader):
        for x, y in loader:
            if self.count % 2 == 0:
                self.optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(self.model(x), y)
            self.backward(loss)
