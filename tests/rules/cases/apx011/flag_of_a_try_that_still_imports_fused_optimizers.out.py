import torch
try:
    from apex.optimizers import FusedAdam
    HAS_APEX = True
except ImportError:
    HAS_APEX = False


def main(args, loader):
    model = build().cuda()
    optimizer = FusedAdam(model.parameters()) if HAS_APEX else torch.optim.Adam(model.parameters())
    scaler = torch.amp.GradScaler("cuda", enabled=bool(args.fp16))
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
