import torch
from apex import amp


def train(model, optimizer, batches):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in batches:
        optimizer.zero_grad()
        loss = (model(x) - y).pow(2).mean()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            print(loss.item())
            loss = loss / 2
            scaled_loss.backward()
        optimizer.step()


def train_in_place(model, optimizer, batches):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in batches:
        optimizer.zero_grad()
        loss = (model(x) - y).pow(2).mean()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            print(loss.item())
            scaled_loss.backward()
            loss = loss.item()
        optimizer.step()
