# expect: safe
# casts: real
# shape: an evaluation before, with and after the averaged weights; one region would keep the half copies of the first

from contextlib import contextmanager

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Average:
    def __init__(self, model):
        self.model = model
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}

    def update(self):
        for name, p in self.model.named_parameters():
            self.shadow[name].lerp_(p.detach(), 0.3)

    def exchange(self):
        for name, p in self.model.named_parameters():
            p.data, self.shadow[name] = self.shadow[name], p.data

    @contextmanager
    def average_parameters(self):
        self.exchange()
        try:
            yield
        finally:
            self.exchange()


def evaluate(model, data):
    model.eval()
    with torch.no_grad():
        total = sum(F.cross_entropy(model(x), y).item() for x, y in data)
    model.train()
    return total


def evaluate_averaged(model, average, data):
    average.exchange()
    total = evaluate(model, data)
    average.exchange()
    return total


def main():
    torch.manual_seed(4)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    average = Average(model)
    data = [(torch.randn(6, 4).cuda(), torch.randint(0, 3, (6,)).cuda()) for _ in range(4)]
    found = []
    for epoch in range(2):
        for x, y in data:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            optimizer.step()
            average.update()
        found.append(evaluate(model, data))
        with average.average_parameters():
            found.append(evaluate(model, data))
        found.append(evaluate(model, data))
        found.append(evaluate_averaged(model, average, data))
        found.append(evaluate(model, data))
    print(*(f"{one:.3f}" for one in found))


main()
