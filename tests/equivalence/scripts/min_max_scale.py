# expect: review: GradScaler has no minimum and no maximum scale
# shape: min_loss_scale and max_loss_scale

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(18)
net = nn.Linear(4, 1).cuda()
opt = torch.optim.Adam(net.parameters(), lr=0.05)
net, opt = amp.initialize(net, opt, opt_level='O1', loss_scale='dynamic',
                          min_loss_scale=1.0, max_loss_scale=2.0 ** 20)
for it in range(6):
    opt.zero_grad()
    loss = (net(torch.randn(4, 4).cuda()) + 2).pow(2).mean()
    with amp.scale_loss(loss, opt) as scaled_loss:
        scaled_loss.backward()
    opt.step()
    print(it, '%.5f' % loss.item())
