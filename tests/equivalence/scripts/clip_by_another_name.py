# expect: safe
# shape: clips under another name, from a table and by getattr; gradients read by __str__, by map and by a name in a string

import torch
import torch.nn as nn
from apex import amp
from torch.nn.utils import clip_grad_norm_ as bound_norm

CLIPS = {"norm": nn.utils.clip_grad_norm_, "value": nn.utils.clip_grad_value_}


class Stats:
    def __init__(self, model):
        self.model = model

    def __str__(self):
        return "%.4f" % sum(p.grad.norm().item() for p in self.model.parameters())


def flat(model, what):
    return torch.cat([getattr(p, what).flatten() for p in model.parameters()])


size = lambda p: p.grad.abs().sum().item()


def main():
    torch.manual_seed(31)
    model = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    stats = Stats(model)
    for step in range(6):
        x, y = torch.randn(8, 4).cuda(), (torch.arange(8) % 2).cuda()
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if step == 0:
            print("%.4f" % bound_norm(model.parameters(), 0.01))
        elif step == 1:
            CLIPS["value"](model.parameters(), 0.01)
        elif step == 2:
            getattr(nn.utils, "clip_grad_" + "norm_")(model.parameters(), 0.01)
        elif step == 3:
            print(stats)
        elif step == 4:
            print("%.4f" % flat(model, "grad").sum())
        else:
            print(["%.4f" % one for one in map(size, model.parameters())])
        optimizer.step()


main()
