import torch
from contextlib import contextmanager


@contextmanager
def scaled(loss, optimizer, scaler):
    yield scaler.scale(loss)


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    with scaled(loss, optimizer, scaler) as scaled_loss:
        scaled_loss.backward()
    scaler.step(optimizer)
    scaler.update()
