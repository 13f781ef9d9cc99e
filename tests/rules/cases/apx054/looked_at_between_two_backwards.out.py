import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        output = model(x)
        loss = criterion(output, y)
    scaler.scale(loss).backward(retain_graph=True)
    print(sum((p.grad / scaler.get_scale()).norm() for p in model.parameters()))
    with torch.autocast("cuda", dtype=torch.float16):
        loss = penalty(output)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
