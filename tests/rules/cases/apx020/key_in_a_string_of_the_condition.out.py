import torch

fp16 = False
model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if opt["fp16"] == "amp":
    fp16 = True
scaler = torch.amp.GradScaler("cuda", enabled=opt["fp16"] == "amp")
print(fp16)
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
