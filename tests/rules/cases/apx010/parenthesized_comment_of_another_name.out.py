import torch
from apex import (
    optimizers,  # the fused kernels stay
)

model = build().cuda()
optimizer = optimizers.FusedAdam(model.parameters())
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
