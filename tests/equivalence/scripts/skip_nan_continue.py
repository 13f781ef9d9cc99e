# expect: safe
# shape: a loss that is not finite is skipped with continue before the backward

import math

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(86)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
bad = 0
for i in range(7):
    x = torch.randn(4, 3).cuda()
    if i in (2, 5):
        x[0, 0] = float("nan")
    loss = model(x).pow(2).mean()
    if not math.isfinite(loss.item()):
        print("Loss is {}, skipping the batch".format(loss.item()))
        bad += 1
        continue
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(i, "%.6f" % loss.item())
print("bad batches:", bad)
