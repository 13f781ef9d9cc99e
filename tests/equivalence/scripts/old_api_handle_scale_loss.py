# expect: manual: handle.scale_loss of the old API raises in current Apex when it is enabled
# shape: with amp_handle.scale_loss(loss, optimizer), runs only while amp is off

import torch
import torch.nn as nn
from apex import amp

ENABLED = False
torch.manual_seed(110)
amp_handle = amp.init(enabled=ENABLED)
net = nn.Linear(3, 3).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(4):
    optimizer.zero_grad()
    loss = net(torch.randn(2, 3).cuda()).abs().mean()
    with amp_handle.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(i, "%.6f" % loss.item())
