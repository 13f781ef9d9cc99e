import torch

model = build().cuda()
optimizers = [torch.optim.SGD(model.body.parameters(), lr=0.1), torch.optim.Adam(model.head.parameters())]
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    for optimizer in optimizers:
        optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    for optimizer in optimizers:
        scaler.step(optimizer)
    scaler.update()
