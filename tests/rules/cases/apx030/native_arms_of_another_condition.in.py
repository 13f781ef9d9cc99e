import torch
from apex import amp
from torch.cuda.amp import GradScaler, autocast


def main(model, optimizer, loader, mixed_precision=True, with_apex=False):
    if with_apex:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1" if mixed_precision else "O0")
    scaler = GradScaler(enabled=not with_apex)
    for x, y in loader:
        optimizer.zero_grad()
        if with_apex:
            loss = torch.nn.functional.cross_entropy(model(x), y)
        else:
            with autocast(enabled=mixed_precision):
                loss = torch.nn.functional.cross_entropy(model(x), y)
        # Backward
        if with_apex:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
            optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
        print(loss.item())
