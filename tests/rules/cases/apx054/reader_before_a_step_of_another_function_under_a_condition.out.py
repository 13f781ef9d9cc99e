import torch


def backward(loss, model, scaler):
    scaler.scale(loss).backward()
    print(sum((p.grad / scaler.get_scale()).norm() for p in model.parameters()))


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for i, (x, y) in enumerate(loader):
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    backward(loss, model, scaler)
    if i % 4 == 3:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
