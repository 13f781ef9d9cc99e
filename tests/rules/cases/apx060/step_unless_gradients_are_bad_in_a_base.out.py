import math

import torch


class Base:
    def backward(self, loss):
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        if math.isnan(norm):
            print("NaN")
        else:
            self.scaler.step(self.optimizer)
        self.scaler.update()
        return norm


class Solver(Base):
    def __init__(self, model, lr):
        self.lr, self.model = lr, model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.scaler = torch.amp.GradScaler("cuda")

    def prepare(self, step):
        for group in self.optimizer.param_groups:
            group["lr"] = self.lr / (step + 1)
        self.optimizer.zero_grad()

    def fit(self, loader):
        for step, (x, y) in enumerate(loader):
            self.prepare(step)
            with torch.autocast("cuda", dtype=torch.float16):
                loss = torch.nn.functional.mse_loss(self.model(x), y)
            self.backward(loss)
