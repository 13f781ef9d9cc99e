import torch
from settings import cfg

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
static_scale = cfg.amp and cfg.amp.loss_scale not in (None, "dynamic")
scaler = torch.amp.GradScaler(
    "cuda", init_scale=float(cfg.amp.loss_scale) if static_scale else 2.0**16, enabled=bool(cfg.amp)
)
if static_scale:
    scaler.set_growth_factor(1.0)  # a static loss scale
    scaler.set_backoff_factor(1.0)
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
