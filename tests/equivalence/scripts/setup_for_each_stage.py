# expect: safe
# shape: a helper initializes, called anew for the second stage with another optimizer

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def setup(model, opt, level):
    model, opt = amp.initialize(model, opt, opt_level=level, verbosity=0)
    return model, opt


def step(loss, opt):
    with amp.scale_loss(loss, opt) as scaled:
        scaled.backward()
    opt.step()
    opt.zero_grad()


def main():
    torch.manual_seed(0)
    out = []
    backbone, head = nn.Linear(4, 8), nn.Linear(8, 3)
    model = nn.Sequential(backbone, nn.ReLU(), head)
    for p in backbone.parameters():
        p.requires_grad = False
    model, opt = setup(model, torch.optim.SGD(head.parameters(), lr=0.1), "O1")
    for _ in range(3):
        x, y = torch.randn(6, 4), torch.randint(0, 3, (6,))
        loss = F.cross_entropy(model(x), y)
        step(loss, opt)
        out.append(loss.item())
    for p in backbone.parameters():
        p.requires_grad = True
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    model, opt = setup(model, opt, "O1")
    for _ in range(3):
        x, y = torch.randn(6, 4), torch.randint(0, 3, (6,))
        loss = F.cross_entropy(model(x), y)
        step(loss, opt)
        out.append(loss.item())
    return out


for value in main():
    print("%.6f" % value)
