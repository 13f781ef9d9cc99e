import torch

model = build().cuda()
optimizers = [torch.optim.SGD(model.body.parameters(), lr=0.1), torch.optim.Adam(model.head.parameters())]
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    for optimizer in optimizers:
        scaler.unscale_(optimizer)
    for optimizer in optimizers:
        torch.nn.utils.clip_grad_norm_(
            (p for group in optimizer.param_groups for p in group["params"]), 1.0
        )
        scaler.step(optimizer)
        optimizer.zero_grad()
    scaler.update()
