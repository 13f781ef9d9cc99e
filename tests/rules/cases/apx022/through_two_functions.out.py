import torch


def step(loss, optimizer, scaler):
    """One step."""
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


def train(model, optimizer: torch.optim.Optimizer, scaler, loader) -> None:
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            loss = criterion(model(x), y)
        step(loss, optimizer, scaler)


def main():
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    train(model, optimizer, scaler, load())
