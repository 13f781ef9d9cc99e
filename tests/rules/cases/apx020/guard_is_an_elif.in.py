import torch
from apex import amp


def main(args, loader):
    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.cpu:
        model = model.float()
    elif args.fp16:
        model, optimizer = amp.initialize(model.cuda(), optimizer, opt_level="O1")
    else:
        model = model.cuda()
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        if args.fp16 and not args.cpu:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
