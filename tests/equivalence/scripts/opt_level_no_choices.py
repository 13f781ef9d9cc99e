# expect: review: --opt-level is free text, a value O2 or O3 would be another precision
# shape: variable opt_level without choices, default O1
# argv: --opt-level O1
# argv: --opt-level O0

import argparse
import torch
from torch import nn
import apex.amp as amp

p = argparse.ArgumentParser()
p.add_argument("--opt-level", type=str, default="O1")
args = p.parse_args()

torch.manual_seed(6)
net = nn.Linear(3, 3).cuda()
optim = torch.optim.SGD(net.parameters(), lr=0.3)
net, optim = amp.initialize(net, optim, opt_level=args.opt_level)
for step in range(5):
    loss = (net(torch.randn(4, 3).cuda()) - 1).abs().mean()
    optim.zero_grad()
    with amp.scale_loss(loss, optim) as sl:
        sl.backward()
    optim.step()
    print(step, loss.item())
