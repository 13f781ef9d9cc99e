"""Nothing in here knows of amp: objects that hold a network and run it when they are asked."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Evaluator:
    def __init__(self, model, images):
        self.subject, self.images, self.history = model, images, []

    def run(self):
        self.subject.eval()
        with torch.no_grad():
            self.history.append(sum(self.subject(x).float().mean().item() for x in self.images))
        self.subject.train()
        return self.history[-1]


class EarlyStopping:
    def __init__(self, evaluator, patience):
        self.evaluator, self.patience, self.best, self.bad = evaluator, patience, -1e9, 0

    def should_stop(self):
        score = self.evaluator.run()
        self.bad = 0 if score > self.best else self.bad + 1
        self.best = max(score, self.best)
        return self.bad >= self.patience


class Prefetch:
    def __init__(self, batches, enhance):
        self.batches, self.enhance = batches, enhance

    def __iter__(self):
        for x, y in self.batches:
            with torch.no_grad():
                x = self.enhance(x)
            yield x.float(), y


_net = None


def get_net():
    global _net
    if _net is None:
        _net = nn.Sequential(nn.Linear(5, 4), nn.Tanh()).eval()
    return _net


@torch.no_grad()
def describe(x):
    return get_net()(x).float().mean()


def linear_probe(encoder, batches):
    head = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    found = []
    for x, y in batches:
        with torch.no_grad():
            features = encoder(x).float()
        loss = F.cross_entropy(head(features), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found
