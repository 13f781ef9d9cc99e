import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norm = sum(p.grad.norm() for p in model.parameters())
    if args.clip:
        torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
    print(norm.item())
    scaler.step(optimizer)
    scaler.update()
