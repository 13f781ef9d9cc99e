import math

import torch


class Optimizer:
    def __init__(self, parameters, lr):
        self.opt = torch.optim.Adam(parameters, lr=lr)
        self.scaler = torch.amp.GradScaler("cuda")

    def pre_step(self):
        self.opt.zero_grad()

    def step(self):
        self.scaler.step(self.opt)


class Solver:
    def __init__(self, model):
        self.model = model
        self.optimizer = Optimizer(model.parameters(), 1e-3)

    def backward(self, loss):
        self.optimizer.scaler.scale(loss).backward()
        self.optimizer.scaler.unscale_(self.optimizer.opt)
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        if math.isnan(norm):
            print("NaN")
        else:
            self.optimizer.step()
        self.optimizer.scaler.update()

    def fit(self, loader):
        for x, y in loader:
            self.optimizer.pre_step()
            with torch.autocast("cuda", dtype=torch.float16):
                loss = torch.nn.functional.mse_loss(self.model(x), y)
            self.backward(loss)
