import torch

model = build().cuda()
for p in model.body.parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    total = 0
    scaler.unscale_(optimizer)
    for p in (p for group in optimizer.param_groups for p in group["params"]):
        total += p.grad.norm().item() ** 2
    print(total)
    scaler.step(optimizer)
    scaler.update()
