import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    with torch.autocast("cuda", dtype=torch.float16):
        loss = torch.nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
model.zero_grad()
image = next(iter(loader))[0].requires_grad_()
with torch.autocast("cuda", dtype=torch.float16):
    output = model(image)[0, 1]
output.backward()
show(image.grad)
