# expect: safe

import torch
import torch.nn as nn
import torch.nn.functional as F
import config


def fit(model, optimizer, data):
    out = []
    for x, y in data:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        config.backward(loss, optimizer)
        optimizer.step()
        out.append(loss.item())
    return out


def main():
    torch.manual_seed(0)
    data = [(torch.randn(4, 4), torch.randint(0, 3, (4,))) for _ in range(4)]
    m = nn.Linear(4, 3)
    m, o = config.wrap(m, torch.optim.SGD(m.parameters(), lr=0.1))
    out = fit(m, o, data)
    return out, list(m.parameters())
