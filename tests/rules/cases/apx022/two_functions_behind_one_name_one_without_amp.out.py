import torch


def train_amp(model, optimizer, scaler, loader):
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


def train_debug(model, optimizer, scaler, loader):
    print(model, optimizer, loader)


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
train = train_debug if args.debug else train_amp
train(model, optimizer, scaler, load())
