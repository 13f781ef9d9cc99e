import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda", enabled=bool(args.fp16))
for i, (x, y) in enumerate(loader):
    with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
        loss = criterion(model(x), y)
    if args.fp16:
        scaler.scale(loss).backward()
        loss_scale = scaler.get_scale()
        if (i + 1) % 4 == 0:
            scaler.unscale_(optimizer)
            loss_scale = 1.0
        torch.nn.utils.clip_grad_norm_(model.parameters(), loss_scale)
    else:
        loss.backward()
    if (i + 1) % 4 == 0:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
