import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

def backward(loss, optimizer):
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()


def train(model, optimizer, data):
    out = []
    for x, y in data:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        backward(loss, optimizer)
        optimizer.step()
        out.append(loss.item())
    return out
