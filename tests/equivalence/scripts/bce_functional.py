# expect: safe
# shape: F.binary_cross_entropy among other terms of the loss, its arguments in fp32
# casts: real

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

torch.manual_seed(100)


class VAE(nn.Module):
    def __init__(self):
        super(VAE, self).__init__()
        self.enc = nn.Linear(6, 4)
        self.dec = nn.Linear(2, 6)

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=1)
        z = mu + torch.exp(0.5 * logvar) * 0.1
        return torch.sigmoid(self.dec(z)), mu, logvar


model = VAE().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
for batch_idx in range(5):
    data = torch.rand(4, 6).cuda()
    optimizer.zero_grad()
    recon, mu, logvar = model(data)
    bce = F.binary_cross_entropy(recon.float(), data, reduction='sum')
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    loss = bce + kld
    if batch_idx == 3:
        loss = loss * float('inf')
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print('[{}] Loss: {:.6f}'.format(batch_idx, loss.item()))
