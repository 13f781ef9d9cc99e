# expect: safe
# shape: a trainer's epoch and its evaluation are called in one statement, and what they return is logged
# casts: real

import torch
import torch.nn as nn
from apex import amp


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def train(self, batches):
        self.model.train()
        total = 0.0
        for x, y in batches:
            loss = nn.functional.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total

    def evaluate(self, batches):
        self.model.eval()
        with torch.no_grad():
            return sum(nn.functional.cross_entropy(self.model(x), y).item() for x, y in batches)


class Log:
    def __init__(self):
        self.rows = []

    def add(self, *values):
        self.rows.append(values)
        print(" ".join("%.7f" % value for value in values))


if __name__ == "__main__":
    torch.manual_seed(81)
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 3))
    trainer = Trainer(net, lr=0.1)
    data = [(torch.randn(3, 4), torch.tensor([0, 1, 2])) for _ in range(4)]
    log, rows = Log(), []
    for epoch in range(2):
        rows += [trainer.train(data), trainer.evaluate(data)]
        log.add(trainer.train(data))
        log.add(trainer.train(data), trainer.evaluate(data))
    print(rows)
