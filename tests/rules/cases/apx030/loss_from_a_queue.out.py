import torch
from queue import Queue

losses = Queue()
model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    with torch.autocast("cuda", dtype=torch.float16):
        losses.put(criterion(model(x), y))
while not losses.empty():
    optimizer.zero_grad()
    loss = losses.get()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
