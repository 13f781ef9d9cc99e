# expect: review: the gradients of an overflow are thrown away
# shape: a norm is read, and two of three arms step: one update for all

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def norm_of(model):
    return float(sum(p.grad.norm() ** 2 for p in model.parameters()) ** 0.5)


def main():
    torch.manual_seed(0)
    model = nn.Linear(4, 3)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model, opt = amp.initialize(model, opt, opt_level="O1")
    out = []
    for i in range(6):
        x, y = torch.randn(6, 4), torch.randint(0, 3, (6,))
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled:
            scaled.backward()
        norm = norm_of(model)
        if i == 0:
            opt.step()
        elif norm > 1:
            opt.step()
        out.append(loss.item())
    return out


for value in main():
    print("%.6f" % value)
