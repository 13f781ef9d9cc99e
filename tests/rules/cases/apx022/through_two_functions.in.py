import torch
from apex import amp


def step(loss, optimizer):
    """One step."""
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()


def train(model, optimizer: torch.optim.Optimizer, loader) -> None:
    for x, y in loader:
        loss = criterion(model(x), y)
        step(loss, optimizer)


def main():
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    train(model, optimizer, load())
