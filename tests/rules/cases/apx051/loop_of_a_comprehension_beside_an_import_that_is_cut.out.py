import torch

model = torch.nn.Sequential(build(), torch.nn.LayerNorm(4)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(
        [p for p in (p for group in optimizer.param_groups for p in group["params"])], 1.0
    )
    scaler.step(optimizer)
    scaler.update()
