# expect: safe
# shape: gradients of an input in each round, behind the step, and all are cleared

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model, opt = amp.initialize(model, opt, opt_level="O1")
    out = []
    for _ in range(3):
        x, y = torch.randn(6, 4), torch.randint(0, 3, (6,))
        loss = F.cross_entropy(model(x), y)
        with amp.scale_loss(loss, opt) as scaled:
            scaled.backward()
        opt.step()
        opt.zero_grad()
        out.append(loss.item())
        p = torch.randn(2, 4, requires_grad=True)
        model(p).sum().backward()
        out.append(p.grad.sum().item())
        opt.zero_grad()
    return out + [model[0].weight.sum().item()]


for value in main():
    print("%.6f" % value)
