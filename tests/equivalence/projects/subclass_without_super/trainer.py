import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def fit(self, data):
        out = []
        for x, y in data:
            loss = F.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.optimizer.step()
            out.append(loss.item())
        return out
