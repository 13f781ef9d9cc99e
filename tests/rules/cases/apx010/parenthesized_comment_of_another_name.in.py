import torch
from apex import (
    amp,
    optimizers,  # the fused kernels stay
)

model = build().cuda()
optimizer = optimizers.FusedAdam(model.parameters())
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
