import torch


def main(model, optimizer, loader, half):
    scaler = torch.amp.GradScaler("cuda", enabled=bool(half))
    for x in loader:
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = model(x)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
