import torch

from options import args
model = build().cuda()
parameters = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.SGD(parameters, lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    getattr(torch.nn.utils, "clip_grad_%s_" % args.mode)(parameters, args.clip)
    scaler.step(optimizer)
    scaler.update()
