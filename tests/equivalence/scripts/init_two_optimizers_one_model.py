# expect: safe
# shape: one model, two optimizers for its halves, two losses, each steps after its own backward

import torch
import torch.nn as nn
from apex import amp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.feat = nn.Linear(4, 5)
        self.head_a = nn.Linear(5, 2)
        self.head_b = nn.Linear(4, 2)

    def forward(self, x):
        return self.head_a(torch.relu(self.feat(x))), self.head_b(x)


torch.manual_seed(37)
model = Net().cuda()
opt_a = torch.optim.SGD(list(model.feat.parameters()) + list(model.head_a.parameters()), lr=0.1)
opt_b = torch.optim.Adam(model.head_b.parameters(), lr=0.01)
model, (opt_a, opt_b) = amp.initialize(model, [opt_a, opt_b], opt_level="O1")
crit = nn.CrossEntropyLoss()
for step in range(5):
    x, y = torch.randn(4, 4).cuda(), torch.tensor([0, 1, 0, 1]).cuda()
    out_a, out_b = model(x)
    loss_a, loss_b = crit(out_a, y), crit(out_b, y)
    opt_a.zero_grad()
    with amp.scale_loss(loss_a, opt_a) as scaled:
        scaled.backward()
    opt_a.step()
    opt_b.zero_grad()
    with amp.scale_loss(loss_b, opt_b) as scaled:
        scaled.backward()
    opt_b.step()
    print(step, "%.6f %.6f" % (loss_a.item(), loss_b.item()))
