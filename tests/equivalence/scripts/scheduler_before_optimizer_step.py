# expect: safe
# shape: scheduler before amp.initialize, stepped per iteration ahead of the optimizer; zero_grad first thing in the loop

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from apex import amp

torch.manual_seed(102)
model = nn.Linear(5, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
scheduler = LambdaLR(optimizer, lr_lambda=lambda it: 0.1 / (it + 1))
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for it in range(6):
    optimizer.zero_grad()
    scheduler.step()
    x = torch.randn(4, 5).cuda()
    loss = nn.functional.mse_loss(model(x), x[:, :2])
    if it == 1:
        loss = loss * float("inf")
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(it, scheduler.get_last_lr()[0], loss.item())
