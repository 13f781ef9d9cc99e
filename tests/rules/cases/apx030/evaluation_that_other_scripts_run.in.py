# exported: test
import torch
from apex import amp


def accuracy(model, batch):
    x, y = batch
    return (model(x).argmax(1) == y).float().mean().item()


def test(model, loader):
    total = 0
    for batch in loader:
        total += accuracy(model, batch)
    return total


def train(loader, held_out):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
    score = test(model, held_out)
    print(score)
