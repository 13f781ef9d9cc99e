# expect: safe
# shape: GAN, each optimizer steps right after its own backward, discriminator loss overflows once

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

torch.manual_seed(31)
G = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 3)).cuda()
D = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 1)).cuda()
opt_g = torch.optim.RMSprop(G.parameters(), lr=5e-3)
opt_d = torch.optim.RMSprop(D.parameters(), lr=5e-3)
(G, D), (opt_g, opt_d) = amp.initialize([G, D], [opt_g, opt_d], opt_level="O1")

for it in range(7):
    real = torch.randn(4, 3).cuda()
    z = torch.randn(4, 2).cuda()

    # discriminator
    opt_d.zero_grad()
    fake = G(z).detach()
    d_loss = F.relu(1.0 - D(real)).mean() + F.relu(1.0 + D(fake)).mean()
    if it == 2:
        d_loss = d_loss * float('inf')
    with amp.scale_loss(d_loss, opt_d) as d_scaled:
        d_scaled.backward()
    opt_d.step()

    # generator
    opt_g.zero_grad()
    g_loss = -D(G(z)).mean()
    with amp.scale_loss(g_loss, opt_g) as g_scaled:
        g_scaled.backward()
    opt_g.step()
    print("[%d] d %.6f g %.6f" % (it, d_loss.item(), g_loss.item()))
