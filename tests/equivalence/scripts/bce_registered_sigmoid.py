# expect: review: sigmoid gets float32 where the program calls it, as Apex was told to hand it
# shape: register_float_function(torch, 'sigmoid') so that BCELoss sees fp32
# casts: real

import torch
import torch.nn as nn
from apex import amp

amp.register_float_function(torch, 'sigmoid')


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return torch.sigmoid(self.fc(x))


torch.manual_seed(101)
net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
net, optimizer = amp.initialize(net, optimizer, opt_level='O1')
loss_func = nn.BCELoss()
for i in range(5):
    out = net(torch.randn(4, 3).cuda())
    loss = loss_func(out, torch.tensor([[1.], [0.], [1.], [0.]]).cuda())
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(i, "%.6f" % loss.item())
