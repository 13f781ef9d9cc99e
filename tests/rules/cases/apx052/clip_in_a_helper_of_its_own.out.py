import torch


def clip(model, most):
    torch.nn.utils.clip_grad_value_(model.parameters(), most)


def train(model, optimizer, loader, accumulate):
    scaler = torch.amp.GradScaler("cuda")
    for step, batch in enumerate(loader):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(batch).sum()
        scaler.scale(loss).backward()
        if (step + 1) % accumulate == 0:
            scaler.unscale_(optimizer)
            clip(model, 0.5)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
