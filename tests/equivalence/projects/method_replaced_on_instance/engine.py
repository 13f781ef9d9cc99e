import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

class Engine:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def setup(self):
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def forward(self, x):
        return self.model(x)

    def fit(self, data):
        out = []
        for x, y in data:
            loss = F.cross_entropy(self.forward(x), y)
            self.optimizer.zero_grad()
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.optimizer.step()
            out.append(loss.item())
        return out
