# expect: review: sigmoid gets float32 where the program calls it, as Apex was told to hand it
# shape: register_float_function(torch, 'sigmoid') of a gate; a probe behind training, with binary cross entropy
# casts: real

import torch
import torch.nn as nn
from apex import amp

amp.register_float_function(torch, 'sigmoid')


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.value, self.gate = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        gate = torch.sigmoid(self.gate(x) + 1)
        assert gate.dtype == torch.float32
        return self.value(x) * gate


def probe(net, data):
    found = []
    for x in data:
        with torch.no_grad():
            loss = nn.BCELoss()(torch.sigmoid(net(x)), (x > 0).float())
        found.append("%.3f" % loss.item())
    return found


torch.manual_seed(102)
net = Gated().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net, optimizer = amp.initialize(net, optimizer, opt_level='O1')
data = [torch.randn(6, 4).cuda() for _ in range(5)]
for x in data:
    loss = (net(x) - x.roll(1, 0)).pow(2).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print("%.4f" % loss.item())
print(probe(net, data))
