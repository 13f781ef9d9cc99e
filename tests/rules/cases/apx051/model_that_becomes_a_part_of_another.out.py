import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model = torch.nn.Sequential(torch.nn.Linear(3, 3), model)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(
        (p for group in optimizer.param_groups for p in group["params"]), 1.0
    )
    scaler.step(optimizer)
    scaler.update()
