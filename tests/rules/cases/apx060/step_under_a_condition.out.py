import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for i, (x, y) in enumerate(loader):
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y) / 4
    scaler.scale(loss).backward()
    if (i + 1) % 4 == 0 or i + 1 == len(loader):
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
