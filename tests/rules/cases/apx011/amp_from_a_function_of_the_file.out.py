import torch


def get_amp(fp16):
    if fp16:
        amp = True
    else:
        amp = None
    return amp


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
mixed = get_amp(True)
scaler = torch.amp.GradScaler("cuda", enabled=mixed is not None)
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
