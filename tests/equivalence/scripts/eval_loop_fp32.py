# expect: safe
# shape: @torch.no_grad() evaluation left in fp32 by the setting
# settings: eval=fp32

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

torch.manual_seed(104)


@torch.no_grad()
def evaluate(net, x, y):
    net.eval()
    out = net(x)
    net.train()
    return F.cross_entropy(out, y).item()


net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2)).cuda()
opt = torch.optim.Adam(net.parameters(), lr=0.05)
net, opt = amp.initialize(net, opt, opt_level="O1")
vx, vy = torch.randn(6, 4).cuda(), torch.randint(0, 2, (6,)).cuda()
for i in range(4):
    loss = F.cross_entropy(net(torch.randn(5, 4).cuda()), torch.tensor([0, 1, 1, 0, 1]).cuda())
    opt.zero_grad()
    with amp.scale_loss(loss, opt) as scaled:
        scaled.backward()
    opt.step()
    print("%d train %.6f valid %.6f" % (i, loss.item(), evaluate(net, vx, vy)))
