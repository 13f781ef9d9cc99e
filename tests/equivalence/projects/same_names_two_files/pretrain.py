import torch
import torch.nn as nn
from apex import amp

from common import make_data


def train(model, optimizer, data):
    out = []
    for x, _ in data:
        loss = nn.functional.mse_loss(model(x), x)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        out.append(loss.item())
    return out


def main(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    return train(model, optimizer, make_data(3))
