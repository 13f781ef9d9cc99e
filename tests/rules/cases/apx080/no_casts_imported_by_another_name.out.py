import torch


def gram(a):
    with torch.autocast("cuda", enabled=False):
        a = a.float()
        return a.t() @ a


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = gram(model(x)).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
