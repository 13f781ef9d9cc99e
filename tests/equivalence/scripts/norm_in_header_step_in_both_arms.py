# expect: safe
# shape: the condition reads the norm, and each of its arms steps

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def norm_of(model):
    return sum(p.grad.norm() ** 2 for p in model.parameters()) ** 0.5


def main():
    torch.manual_seed(0)
    model = nn.Linear(4, 3)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model, opt = amp.initialize(model, opt, opt_level="O1")
    out = []
    for i in range(8):
        x, y = torch.randn(6, 4), torch.randint(0, 3, (6,))
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled:
            scaled.backward()
        if norm_of(model) > 1.0:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
        else:
            for g in opt.param_groups:
                g["lr"] *= 1.1
            opt.step()
        out.append(loss.item())
    return out


for value in main():
    print("%.6f" % value)
