import torch
import torch.nn.functional as F
from apex import amp


def evaluate(model, loader, prefix=""):
    for x, _ in loader:
        print(prefix, model(x))


def measure(model, loader, prefix="", *rows, shown=True):
    for x, _ in loader:
        print(prefix, model(x))


def train(model, optimizer, loader, fp16):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", enabled=fp16)
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
    evaluate(model, loader)
    measure(model, loader)


net = torch.nn.Linear(2, 1)
train(net, torch.optim.SGD(net.parameters(), lr=0.1), make_loader(), True)
