# expect: safe
# shape: return amp.initialize(...) from a helper

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def to_mixed_precision(net, opt):
    """Wrap for apex, O1."""
    return amp.initialize(net, opt, opt_level="O1")


def main():
    torch.manual_seed(51)
    net = nn.Linear(3, 2).cuda()
    opt = torch.optim.Adam(net.parameters(), lr=0.1)
    net, opt = to_mixed_precision(net, opt)
    for i in range(5):
        out = net(torch.randn(4, 3).cuda())
        loss = F.mse_loss(out, torch.zeros(4, 2).cuda())
        if i == 2:
            loss = loss * float('inf')
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled_loss:
            scaled_loss.backward()
        opt.step()
        print(i, loss.item())


main()
