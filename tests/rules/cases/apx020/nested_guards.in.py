import torch
from apex import amp


def main(args, loader):
    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.cuda:
        model = model.cuda()
        if args.fp16:
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        if args.cuda and args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
