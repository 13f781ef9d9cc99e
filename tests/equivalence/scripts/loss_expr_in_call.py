# expect: safe
# shape: loss / k and loss1 + loss2 written inside the scale_loss call, accumulation

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(60)
k = 4
model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 3)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
optimizer.zero_grad()
for i in range(8):
    x, y = torch.randn(2, 4).cuda(), torch.tensor([0, 2]).cuda()
    out = model(x)
    ce = nn.functional.cross_entropy(out, y)
    reg = out.pow(2).mean()
    with amp.scale_loss((ce + 0.5 * reg) / k, optimizer) as scaled_loss:
        scaled_loss.backward()
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()
    print("%.6f %.6f" % (ce.item(), reg.item()))
