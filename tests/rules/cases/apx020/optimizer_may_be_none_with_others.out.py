import torch

model = build().cuda()
optimizer, scheduler = None, None
if train:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
pair = (model, optimizer) if optimizer is not None else model
scaler = torch.amp.GradScaler("cuda")
model, optimizer = pair if train else (pair, None)
for x, y in loader:
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
