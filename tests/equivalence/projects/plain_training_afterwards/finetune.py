import torch
import torch.nn as nn
import torch.nn.functional as F

def finetune(model, data):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    out = []
    for x, y in data:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        out.append(loss.item())
    return out
