# expect: safe
# shape: loss_scale=1.0 with O1, autocast without a scaler; an infinite loss goes into the weights in both

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(15)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale=1.0)
for step in range(5):
    out = model(torch.randn(3, 4).cuda())
    loss = out.pow(2).mean()
    if step == 3:
        loss = loss * float("inf")
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
