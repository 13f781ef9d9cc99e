import functools

import torch


def train_step(model, optimizer, x, y, scaler):
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
step = functools.partial(train_step, model, optimizer, scaler=scaler)
list(map(lambda batch: step(*batch), loader))
