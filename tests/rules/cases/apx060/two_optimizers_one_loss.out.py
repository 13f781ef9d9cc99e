import torch

model = build().cuda()
opt_a = torch.optim.SGD(model.body.parameters(), lr=0.1)
opt_b = torch.optim.Adam(model.head.parameters())
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    opt_a.zero_grad()
    opt_b.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(opt_a)
    scheduler.step()
    scaler.step(opt_b)
    scaler.update()
