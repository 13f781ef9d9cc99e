import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
pending = False
for i, (x, y) in enumerate(loader):
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    pending = True
    if (i + 1) % 4 == 0:
        scaler.step(optimizer)
        scaler.update()
        pending = False
        optimizer.zero_grad()
if pending:
    scaler.step(optimizer)
    scaler.update()
    pending = False
else:
    optimizer.step()
optimizer.zero_grad()
