import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    loss = 0
    with torch.autocast("cuda", dtype=torch.float16):
        for part, target in zip(x, y):
            loss = loss + criterion(model(part), target)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
