import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
ready = False
scaler = torch.amp.GradScaler("cuda", enabled=False)
for epoch in range(3):
    if not ready:
        scaler = torch.amp.GradScaler("cuda")
        ready = True
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
