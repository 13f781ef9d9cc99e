import torch


def accuracy(model, batch):
    x, y = batch
    return (model(x).argmax(1) == y).float().mean().item()


def test(model, loader):
    total = 0
    for batch in loader:
        total += accuracy(model, batch)
    return total


def train(loader, held_out):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    with torch.autocast("cuda", dtype=torch.float16):
        score = test(model, held_out)
    print(score)
