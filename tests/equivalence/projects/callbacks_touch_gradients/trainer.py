import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

class Trainer:
    def __init__(self, model, callbacks):
        self.callbacks = callbacks
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(model, optimizer, opt_level="O1")

    def emit(self, event):
        for callback in self.callbacks:
            getattr(callback, event)(self)

    def fit(self, data):
        out = []
        for x, y in data:
            loss = F.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.emit("after_backward")
            self.optimizer.step()
            out.append(loss.item())
        return out
