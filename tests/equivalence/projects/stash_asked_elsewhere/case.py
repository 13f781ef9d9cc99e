# expect: manual

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp
from skipped import skipped


def main():
    torch.manual_seed(0)
    model = nn.Linear(4, 2).cuda()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model, opt = amp.initialize(model, opt, opt_level="O1", verbosity=0)
    n = 0
    for i in range(3):
        loss = F.mse_loss(model(torch.full((2, 4), 1.0 + i)), torch.zeros(2, 2)) * (1e38 if i == 1 else 1)
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as s:
            s.backward()
        n += skipped(opt)
        opt.step()
    return n
