# expect: safe
# shape: two losses with one optimizer, retain_graph for the first, accumulated gradients

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

torch.manual_seed(17)


class TwoHeads(nn.Module):
    def __init__(self):
        super(TwoHeads, self).__init__()
        self.body = nn.Linear(5, 6)
        self.cls = nn.Linear(6, 3)
        self.reg = nn.Linear(6, 1)

    def forward(self, x):
        h = torch.relu(self.body(x))
        return self.cls(h), self.reg(h)


model = TwoHeads().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for i in range(5):
    x = torch.randn(4, 5).cuda()
    logits, value = model(x)
    loss_cls = F.cross_entropy(logits, torch.tensor([0, 1, 2, 0]).cuda())
    loss_reg = F.mse_loss(value, torch.ones(4, 1).cuda())
    optimizer.zero_grad()
    with amp.scale_loss(loss_cls, optimizer) as scaled_loss:
        scaled_loss.backward(retain_graph=True)
    with amp.scale_loss(loss_reg, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print("cls {:.5f} reg {:.5f}".format(loss_cls.item(), loss_reg.item()))
