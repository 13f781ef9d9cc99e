import torch
import torch.nn as nn

from engine import train_epoch


def run(data):
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return train_epoch(model, optimizer, data), list(model.parameters())
