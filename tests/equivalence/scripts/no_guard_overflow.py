# expect: safe
# shape: no guard, module level program, overflow at two steps

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(0)
model = nn.Linear(5, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")

for step in range(7):
    x = torch.randn(8, 5).cuda()
    y = torch.randn(8, 2).cuda()
    out = model(x)
    loss = ((out - y) ** 2).mean()
    if step in (0, 4):
        loss = loss * float("inf")
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(step, loss.item(), model.weight.sum().item())
