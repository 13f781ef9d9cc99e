import torch
from apex import amp


def pretrain(net, args, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    if args.fp16:
        net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for x in loader:
        loss = net(x).mean()
        optimizer.zero_grad()
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()


def finetune(net, args, loader):
    optimizer = torch.optim.Adam(net.parameters())
    if args.fp16:
        net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()


def main(net, args, pairs):
    pretrain(net, args, [x for x, _ in pairs])
    finetune(net, args, pairs)
