import torch
from torch.nn.utils import clip_grad_norm_ as limit

model = build().cuda()
parameters = list(model.parameters())
optimizer = torch.optim.SGD(parameters, lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    limit(parameters, 1.0)
    scaler.step(optimizer)
    scaler.update()
