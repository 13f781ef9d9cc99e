import torch

body, head = build().cuda(), build_head().cuda()
opt_a = torch.optim.SGD(body.parameters(), lr=0.1)
opt_b = torch.optim.Adam(head.parameters())
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    opt_a.zero_grad()
    opt_b.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(head(body(x)), y)
    scaler.scale(loss).backward()
    scaler.unscale_(opt_a)
    scaler.unscale_(opt_b)
    torch.nn.utils.clip_grad_norm_(list(body.parameters()) + list(head.parameters()), 1.0)
    scaler.step(opt_a)
    scaler.step(opt_b)
    scaler.update()
