import torch
from apex import amp


def setup(args):
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if not args.fp16:
        return model, optimizer
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    return model, optimizer


def main(args, loader):
    model, optimizer = setup(args)
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
