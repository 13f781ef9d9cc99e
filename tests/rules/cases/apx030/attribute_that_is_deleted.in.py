import torch
from apex import amp


def validate(model, loader):
    for x, y in loader:
        print(torch.nn.functional.mse_loss(model(x), y).item())
    for layer in model.layers:
        if hasattr(layer, "inverse"):
            delattr(layer, "inverse")
    delattr(model, "cache")


def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
    validate(model, loader)
