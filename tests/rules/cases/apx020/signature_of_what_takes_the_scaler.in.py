# expect: review this lists `scaler`, which step() is handed, too, from now on
import inspect

import torch
from apex import amp


def train(args):
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        step(model, optimizer, x, y)


def step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()


for function in (train, step):
    print(function.__name__, *inspect.signature(function).parameters)
train(parse())
