# expect: review loss_scale=args.scale may be static
import torch
from apex import amp


def main(args):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.distributed:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale=args.scale)
    else:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale=args.scale)
    for x, y in args.loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
