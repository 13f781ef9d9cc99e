import torch
from shards import calibrated, sharded

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
model = sharded(model, group=cfg.group)
with torch.autocast("cuda", dtype=torch.float16):
    model = calibrated(model, rows)
for x, y in loader:
    with torch.autocast("cuda", dtype=torch.float16):
        loss = model(x, y)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
