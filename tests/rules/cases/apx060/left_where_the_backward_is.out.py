import torch


def train_step(model, optimizer, scaler, x, y):
    with torch.autocast("cuda", dtype=torch.float16):
        loss = torch.nn.functional.cross_entropy(model(x), y)
    if torch.isfinite(loss):
        scaler.scale(loss).backward()
    else:
        print("left out")
        return False
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    return True


def main():
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        train_step(model, optimizer, scaler, x, y)


main()
