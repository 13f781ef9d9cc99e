# expect: manual may be BCELoss or something else
import torch
import torch.nn as nn
from apex import amp


def squares(out, y):
    return (out - y).pow(2).mean()


def train(args, loader):
    model = nn.Sequential(nn.Linear(4, 1), nn.Sigmoid()).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    criterion = nn.BCELoss()
    if args.regression:
        criterion = squares
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
