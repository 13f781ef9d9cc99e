import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

class Trainer:
    def __init__(self, model, lr):
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.model, self.optimizer = amp.initialize(model, self.optimizer, opt_level="O1")

    def update(self, loss):
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()

    def run(self, data):
        out = []
        for x, y in data:
            loss = F.cross_entropy(self.model(x), y)
            self.update(loss)
            out.append(loss.item())
        return out
