import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    x.requires_grad_()
    with torch.autocast("cuda", dtype=torch.float16):
        output = model(x)
        slope, = torch.autograd.grad(output.sum(), x, create_graph=True)
        loss = criterion(output, y) + slope.pow(2).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
