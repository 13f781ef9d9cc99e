import torch
from apex import amp


def main(args, model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for attempt in range(2):
        if not args.fp16:
            break
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        break
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
