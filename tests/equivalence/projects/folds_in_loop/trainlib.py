import torch
import torch.nn as nn
from apex import amp


class Averager:
    def __init__(self):
        self.total, self.n = 0.0, 0

    def send(self, v):
        self.total += v
        self.n += 1

    @property
    def value(self):
        return self.total / self.n


def train_fn(model, loader, optimizer):
    model.train()
    criterion = nn.CrossEntropyLoss()
    avg = Averager()
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        if i == 3:
            loss = loss * 1e37
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        avg.send(loss.item())
    return avg.value


def valid_fn(model, loader):
    model.eval()
    criterion = nn.CrossEntropyLoss()
    avg = Averager()
    for x, y in loader:
        with torch.no_grad():
            avg.send(criterion(model(x), y).item())
    return avg.value
