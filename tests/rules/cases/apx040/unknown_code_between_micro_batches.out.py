import torch
from hooks import Hooks

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
hooks = Hooks(model)
for x, y in loader:
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    hooks.after_backward()
    if ready():
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
