import torch

[body, head], [opt_body, opt_head] = [build(), build_head()], [make(1), make(2)]
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    opt_body.zero_grad()
    opt_head.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(head(body(x)), y)
    scaler.scale(loss).backward()
    scaler.step(opt_body)
    scaler.step(opt_head)
    scaler.update()
