import torch
from torch.cuda.amp import GradScaler, autocast


def main(model, optimizer, loader, mixed_precision=True, with_apex=False):
    scaler = GradScaler(enabled=mixed_precision)
    for x, y in loader:
        optimizer.zero_grad()
        with autocast(enabled=mixed_precision):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        # Backward
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        print(loss.item())
