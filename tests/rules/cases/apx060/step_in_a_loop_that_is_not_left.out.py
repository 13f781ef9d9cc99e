import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
pending = False
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    pending = True
    for part in parts:
        if pending:
            scaler.step(optimizer)
            scaler.update()
            pending = False
        else:
            optimizer.step()
        if part:
            continue
    if pending:
        scaler.step(optimizer)
        scaler.update()
        pending = False
    else:
        optimizer.step()
    scheduler.step()
