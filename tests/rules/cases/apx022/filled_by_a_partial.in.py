import functools

import torch
from apex import amp


def train_step(model, optimizer, x, y):
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
step = functools.partial(train_step, model, optimizer)
list(map(lambda batch: step(*batch), loader))
