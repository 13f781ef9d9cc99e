import torch
from torch.cuda.amp import GradScaler, autocast


def main(model, optimizer, loader, mixed_precision=True, with_apex=False):
    grad_scaler = torch.amp.GradScaler("cuda", enabled=bool(with_apex and mixed_precision))
    scaler = GradScaler(enabled=not with_apex)
    for x, y in loader:
        optimizer.zero_grad()
        if with_apex:
            with torch.autocast("cuda", dtype=torch.float16, enabled=grad_scaler.is_enabled()):
                loss = torch.nn.functional.cross_entropy(model(x), y)
        else:
            with autocast(enabled=mixed_precision):
                loss = torch.nn.functional.cross_entropy(model(x), y)
        # Backward
        if with_apex:
            grad_scaler.scale(loss).backward()
            grad_scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(
                (p for group in optimizer.param_groups for p in group["params"]), 1.0
            )
            grad_scaler.step(optimizer)
            grad_scaler.update()
        else:
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
        print(loss.item())
