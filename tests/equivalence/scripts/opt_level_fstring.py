# expect: review: the level is built from a number given on the command line, 2 and 3 would be another precision
# shape: f-string level
# argv: --level 1
# argv: --level 2

import argparse
import torch
from apex import amp

ap = argparse.ArgumentParser()
ap.add_argument("--level", default=1, type=int)
ns = ap.parse_args()
torch.manual_seed(55)
m = torch.nn.Linear(4, 4).cuda()
o = torch.optim.SGD(m.parameters(), lr=0.25)
m, o = amp.initialize(m, o, opt_level=f"O{ns.level}")
for i in range(4):
    l = (m(torch.ones(2, 4).cuda()) - 3).pow(2).mean()
    o.zero_grad()
    with amp.scale_loss(l, o) as sl:
        sl.backward()
    o.step()
    print(f"{i} {l.item():.5f}")
