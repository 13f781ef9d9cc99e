import inspect

import torch


def train(args):
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        step(model, optimizer, scaler, x, y)


def step(model, optimizer, scaler, x, y):
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


for function in (train, step):
    print(function.__name__, *inspect.signature(function).parameters)
train(parse())
