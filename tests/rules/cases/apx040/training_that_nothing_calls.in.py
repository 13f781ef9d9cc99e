# expect: manual a parameter that nothing in this file fills
import torch
from apex import amp


def train(model, optimizer, loader):
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


def train_deeply(model, optimizer, loader):
    for x, y in loader:
        loss = sum(torch.nn.functional.mse_loss(one, y) for one in model(x))
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


def main(loader):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    train(model, optimizer, loader)
