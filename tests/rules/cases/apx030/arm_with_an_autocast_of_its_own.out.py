import torch
from torch.cuda.amp import autocast


def main(model, optimizer, loader, half, native=True, with_apex=False):
    scaler = torch.amp.GradScaler("cuda", enabled=bool(with_apex))
    for x, y in loader:
        optimizer.zero_grad()
        if native:
            with autocast(enabled=half):
                loss = torch.nn.functional.cross_entropy(model(x), y)
        else:
            with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
                loss = torch.nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
