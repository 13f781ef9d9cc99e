# expect: review: with a static scale Apex never skips a step
# shape: loss_scale="128.0" as a string, overflow at step 3 goes into the weights
# differs: weights|stdout|steps

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(14)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, True, "O1", loss_scale="128.0")
for step in range(6):
    out = model(torch.randn(3, 4).cuda())
    loss = out.pow(2).sum()
    if step == 3:
        loss = loss * float("inf")
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item(), model.weight[0, 0].item())
