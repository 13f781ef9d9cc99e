import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        output = model(x)
        loss_a = criterion(output, y)
        loss_b = penalty(output)
    scaler.scale(loss_a).backward(retain_graph=True)
    scaler.scale(loss_b).backward()
    scaler.step(optimizer)
    scaler.update()
