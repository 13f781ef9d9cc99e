# expect: review a static loss scale of 128
import torch
from apex import amp


def main(args):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.distributed:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale=128.0)
    else:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale=1024.0)
    for x, y in args.loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
