import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
pair = (model, optimizer)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
