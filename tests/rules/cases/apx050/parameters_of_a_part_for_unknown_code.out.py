import torch
from limits import bound

model = build().cuda()
task = Task(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = task(x, y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    bound(task.model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
