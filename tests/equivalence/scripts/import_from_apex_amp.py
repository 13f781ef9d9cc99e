# expect: safe
# shape: from apex.amp import initialize, scale_loss, master_params as masters

import torch
import torch.nn as nn
from apex.amp import initialize, scale_loss
from apex.amp import master_params as masters

torch.manual_seed(26)
model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
model, optimizer = initialize(model, optimizer, opt_level="O1")
for step in range(6):
    loss = nn.functional.l1_loss(model(torch.randn(5, 4).cuda()), torch.ones(5, 4).cuda())
    if step == 1:
        loss = loss * float("inf")
    with scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    nn.utils.clip_grad_value_(masters(optimizer), 0.05)
    optimizer.step()
    optimizer.zero_grad()
    print("%d: %.6f" % (step, loss.item()))
