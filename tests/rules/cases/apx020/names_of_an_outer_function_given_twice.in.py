import torch
from apex import amp


def main(loader):
    model = optimizer = None

    def setup():
        nonlocal model, optimizer
        model = torch.nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")

    def step(x, y):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()

    setup()
    for x, y in loader:
        step(x, y)
    setup()
    for x, y in loader:
        step(x, y)


main([])
