import torch


def total_grad_norm(parameters):
    total = 0.0
    for p in parameters:
        total += p.grad.detach().norm(2) ** 2
    return total ** 0.5


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
    norm = total_grad_norm(model.parameters()) / loss_scale
    print(norm)
    if (i + 1) % 4 == 0:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
