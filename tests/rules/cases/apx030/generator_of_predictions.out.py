import torch


def predictions(model, loader):
    with torch.no_grad():
        for x in loader:
            with torch.autocast("cuda", dtype=torch.float16):
                output = model(x)
            yield output.argmax(1)


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
for labels in predictions(model, loader):
    print(labels.tolist())
