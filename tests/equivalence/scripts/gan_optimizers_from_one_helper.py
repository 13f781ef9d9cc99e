# expect: safe
# shape: GAN, one helper makes both optimizers, both cleared at the head of a round

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def make_optimizer(net, name="adam", lr=1e-2):
    params = [p for p in net.parameters() if p.requires_grad]
    if name == "adam":
        optimizer = torch.optim.Adam(params, lr=lr, betas=(0.5, 0.999))
    else:
        optimizer = torch.optim.SGD(params, lr=lr, momentum=0.9)
    optimizer.zero_grad()
    return optimizer


torch.manual_seed(3)
G = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 8)).cuda()
D = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)).cuda()
optG = make_optimizer(G)
optD = make_optimizer(D, "sgd")
[G, D], [optG, optD] = amp.initialize([G, D], [optG, optD], opt_level="O1")
for i in range(6):
    real, z = torch.randn(5, 8).cuda(), torch.randn(5, 4).cuda()
    optD.zero_grad()
    optG.zero_grad()
    fake = G(z)
    lossD = F.softplus(-D(real)).mean() + F.softplus(D(fake.detach())).mean()
    with amp.scale_loss(lossD, optD) as scaled:
        scaled.backward()
    optD.step()
    lossG = F.softplus(-D(fake)).mean()
    with amp.scale_loss(lossG, optG) as scaled:
        scaled.backward()
    torch.nn.utils.clip_grad_norm_(amp.master_params(optG), 0.5)
    optG.step()
    print("%d D %.6f G %.6f" % (i, lossD.item(), lossG.item()))
