import torch


def train(model, optimizer, batches):
    scaler = torch.amp.GradScaler("cuda")
    for x, y in batches:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = (model(x) - y).pow(2).mean()
        scaled_loss = scaler.scale(loss)
        print(loss.item())
        loss = loss / 2
        scaled_loss.backward()
        scaler.step(optimizer)
        scaler.update()


def train_in_place(model, optimizer, batches):
    scaler = torch.amp.GradScaler("cuda")
    for x, y in batches:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = (model(x) - y).pow(2).mean()
        print(loss.item())
        scaler.scale(loss).backward()
        loss = loss.item()
        scaler.step(optimizer)
        scaler.update()
