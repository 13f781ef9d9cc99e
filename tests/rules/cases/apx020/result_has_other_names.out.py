import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
net, opt = model, optimizer
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    opt.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(net(x), y)
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
