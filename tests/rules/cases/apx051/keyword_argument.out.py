import torch

model = build().cuda()
optimizer = make_optimizer(model, args)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(
        parameters=list(p for group in optimizer.param_groups for p in group["params"]),
        max_norm=1.0,
    )
    scaler.step(optimizer)
    scaler.update()
