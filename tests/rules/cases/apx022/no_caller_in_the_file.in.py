# expect: manual nothing in this file fills
# expect: manual the loss of this optimizer is not scaled in this file
import torch
from apex import amp


def setup():
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return amp.initialize(model, optimizer, opt_level="O1")


def train(model, optimizer, loader):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
