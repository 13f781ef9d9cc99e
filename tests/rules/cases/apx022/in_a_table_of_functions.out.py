import torch


def train(model, optimizer, scaler, loader):
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


def test(model, optimizer, scaler, loader):
    pass


PHASES = {"train": train, "test": test}
model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
train(model, optimizer, scaler, load())
for phase in PHASES:
    PHASES[phase](model, optimizer, scaler, load())
