import torch
from torch import nn


def get_amp():
    return True


def main(args, loader):
    model = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    amp = get_amp() if args.fp16 else None
    scaler = torch.amp.GradScaler("cuda", enabled=amp is not None)
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
