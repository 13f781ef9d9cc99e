import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    done = False
    while not done:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        done = all(torch.isfinite(p.grad / scaler.get_scale()).all() for p in model.parameters())
    scaler.step(optimizer)
    scaler.update()
