import torch


def train(model, optimizer, batch, rounds):
    scaler = torch.amp.GradScaler("cuda")
    optimizer.zero_grad()
    for i in range(rounds):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(batch).sum()
        scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
