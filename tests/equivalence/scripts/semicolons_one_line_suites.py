# expect: safe
# shape: several statements on one line, one-line if suites

import torch, torch.nn as nn
from apex import amp

torch.manual_seed(163)
fp16 = True
model = nn.Linear(3, 1).cuda(); optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if fp16: model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for i in range(4):
    y = model(torch.randn(4, 3).cuda()); loss = y.pow(2).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as s: s.backward()
    optimizer.step(); print(i, "%.6f" % loss.item())
