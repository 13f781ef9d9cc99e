import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
grad_scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    grad_scaler.scale(loss).backward()
    grad_scaler.step(optimizer)
    grad_scaler.update()
for scaler in [grad_scaler]:
    print(scaler.get_scale())
