import torch


def validate(model, loader):
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            print(torch.nn.functional.mse_loss(model(x), y).item())
    for layer in model.layers:
        if hasattr(layer, "inverse"):
            delattr(layer, "inverse")
    delattr(model, "cache")


def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    validate(model, loader)
