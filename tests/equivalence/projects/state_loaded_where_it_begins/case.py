# expect: review

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp
from ckpt import load


def build(state=None):
    torch.manual_seed(0)
    model = nn.Linear(4, 1).cuda()
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    model, opt = amp.initialize(model, opt, opt_level="O1", verbosity=0)
    if state is not None:
        load(state, model, opt)
    return model, opt


def session(n, blow, state=None):
    model, opt = build(state)
    rows = []
    for i in range(n):
        loss = F.mse_loss(model(torch.full((2, 4), 1.0 + i)), torch.zeros(2, 1)) * (1e38 if i in blow else 1)
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as s:
            s.backward()
            if i == 0:
                rows.append(s.item() / loss.item())
        opt.step()
        rows.append(model.weight.detach().sum().item())
    return rows, {"model": model.state_dict(), "opt": opt.state_dict(), "amp": amp.state_dict()}


def main():
    rows, state = session(3, (0, 2))
    return rows, session(3, (), state)[0]
