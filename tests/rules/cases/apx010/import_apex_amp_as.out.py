import torch as T

model = build().cuda()
optimizer = T.optim.SGD(model.parameters(), lr=0.1)
scaler = T.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with T.autocast("cuda", dtype=T.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
