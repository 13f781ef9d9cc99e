import torch
from apex import amp


def validate(model, loader):
    with torch.no_grad():
        for x, y in loader:
            output = model(x)
            print(output.argmax(1))


def train(loader, options):
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if options.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
    validate(model, loader)


if __name__ == "__main__":
    options = parse()
    train(load(), options)
