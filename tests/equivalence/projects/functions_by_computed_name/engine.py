import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

def build(lr):
    model = nn.Linear(5, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    return amp.initialize(model, optimizer, opt_level="O1")


def train(model, optimizer, data):
    out = []
    for x, y in data:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        out.append(loss.item())
    return out


def run(data):
    model, optimizer = build(0.1)
    return train(model, optimizer, data), list(model.parameters())
