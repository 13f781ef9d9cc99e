import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for i, (x, y) in enumerate(loader):
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    norm = torch.nn.utils.clip_grad_norm_(
        model.parameters(), scaler.get_scale()
    ) / scaler.get_scale()
    print(norm)
    i += 1
    if i % 4 == 0:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
