import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)  # a scalar
    scaler.scale(loss).backward()  # and backward
    scaler.step(optimizer)  # if it did not overflow
    scaler.update()
