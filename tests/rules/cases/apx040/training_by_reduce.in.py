# expect: manual gets its optimizer from callers outside this file
from functools import partial, reduce

import torch
import torch.nn.functional as F
from apex import amp


def update(model, optimizer, total, batch):
    x, y = batch
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    return total + loss.item()


def train(loader):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    return reduce(partial(update, model, optimizer), loader, 0.0)
