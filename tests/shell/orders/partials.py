from functools import partial

import torch
from apex import amp


def step(rate, optimizer, model, batch):
    loss = model(batch).mean()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def main(kind, loader):
    model, other, third = torch.nn.Linear(4, 2), torch.nn.Linear(4, 2), torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    second = torch.optim.SGD(other.parameters(), lr=0.1)
    last = torch.optim.SGD(third.parameters(), lr=0.1)
    models, optimizers = [model, other, third], [optimizer, second, last]
    [model, other, third], [optimizer, second, last] = amp.initialize(models, optimizers, opt_level="O1")
    run = partial(step, 1.0, optimizer, model)
    if kind == 1:
        run = partial(step, 2.0, second, other)
    elif kind == 2:
        run = partial(step, 3.0, last, third)
    for batch in loader:
        run(batch)
