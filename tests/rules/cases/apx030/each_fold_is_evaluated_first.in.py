# expect: review run() runs more than once
import torch
from apex import amp


def evaluate(model, x):
    with torch.no_grad():
        report(model(x).argmax(1))


def run(x, y):
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    evaluate(model, x)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for _ in range(3):
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
    evaluate(model, x)


for x, y in folds:
    run(x, y)
