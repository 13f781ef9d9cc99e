import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaled_loss = scaler.scale(loss)
    scaled_loss.backward()
    print(loss.item(), scaled_loss.item())
    scaler.step(optimizer)
    scaler.update()
