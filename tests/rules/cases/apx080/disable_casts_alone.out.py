import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.cuda.amp.GradScaler()
for x, y in loader:
    optimizer.zero_grad()
    with torch.cuda.amp.autocast():
        output = model(x)
        with torch.cuda.amp.autocast(enabled=False):
            loss = criterion(output.float(), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
