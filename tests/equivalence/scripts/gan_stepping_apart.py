# expect: review: each optimizer gets a scaler of its own, Apex shared one scale between them
# shape: discriminator steps every iteration while the generator accumulates over two

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(32)
netG = nn.Linear(3, 3).cuda()
netD = nn.Sequential(nn.Linear(3, 4), nn.Softplus(), nn.Linear(4, 1)).cuda()
optG = torch.optim.SGD(netG.parameters(), lr=0.05)
optD = torch.optim.SGD(netD.parameters(), lr=0.05)
[netG, netD], [optG, optD] = amp.initialize([netG, netD], [optG, optD], opt_level="O1")

optG.zero_grad()
for i in range(8):
    real, noise = torch.randn(4, 3).cuda(), torch.randn(4, 3).cuda()
    lossG = nn.functional.softplus(-netD(netG(noise))).mean() / 2
    with amp.scale_loss(lossG, optG) as scaled:
        scaled.backward()

    optD.zero_grad()
    fake = netG(noise).detach()
    lossD = nn.functional.softplus(netD(fake)).mean() + nn.functional.softplus(-netD(real)).mean()
    with amp.scale_loss(lossD, optD) as scaled:
        scaled.backward()
    optD.step()

    if i % 2 == 1:
        optG.step()
        optG.zero_grad()
    print(i, "%.6f %.6f" % (lossG.item(), lossD.item()))
