import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for i, (x, y) in enumerate(loader):
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    loss_scale = scaler.get_scale()
    if (i + 1) % 4 == 0:
        scaler.unscale_(optimizer)
        loss_scale = 1.0
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), loss_scale) / loss_scale
    print(norm)
    if (i + 1) % 4 == 0:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
