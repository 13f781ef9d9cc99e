import torch

head = build_head().cuda()
model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.add_param_group({"params": head.parameters()})
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(head(model(x)), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(
        (p for group in optimizer.param_groups for p in group["params"]), 1.0
    )
    scaler.step(optimizer)
    scaler.update()
