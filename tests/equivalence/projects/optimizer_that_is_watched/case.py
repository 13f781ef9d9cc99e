# expect: safe

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp
from signed import SignedMomentum


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)).cuda()
    opt = SignedMomentum(model.parameters(), lr=0.01)
    model, opt = amp.initialize(model, opt, opt_level="O1", verbosity=0)
    torch.manual_seed(1)
    rows = []
    for i in range(5):
        loss = F.mse_loss(model(torch.randn(5, 4)), torch.zeros(5, 2)) * (1e38 if i == 2 else 1)
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as s:
            s.backward()
        opt.observe()
        opt.step()
        rows.append(loss.item())
    return rows, opt.seen, [p.detach() for p in model.parameters()]
