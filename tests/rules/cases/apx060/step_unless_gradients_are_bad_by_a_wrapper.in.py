# expect: review its skip stayed armed
import math

import torch
from apex import amp


class Optimizer:
    def __init__(self, parameters, lr):
        self.opt = torch.optim.Adam(parameters, lr=lr)

    def pre_step(self):
        self.opt.zero_grad()

    def step(self):
        self.opt.step()


class Solver:
    def __init__(self, model):
        self.model = model
        self.optimizer = Optimizer(model.parameters(), 1e-3)
        self.model, self.optimizer.opt = amp.initialize(self.model, self.optimizer.opt, opt_level="O1")

    def backward(self, loss):
        with amp.scale_loss(loss, self.optimizer.opt) as scaled_loss:
            scaled_loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        if math.isnan(norm):
            print("NaN")
        else:
            self.optimizer.step()

    def fit(self, loader):
        for x, y in loader:
            self.optimizer.pre_step()
            loss = torch.nn.functional.mse_loss(self.model(x), y)
            self.backward(loss)
