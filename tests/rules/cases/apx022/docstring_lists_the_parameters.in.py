import torch
from apex import amp


def train(net, opt, loader, fp16=False):
    """One epoch.

    Args:
        net (Module): the network
        opt (Optimizer): what steps
        loader (DataLoader): batches
        fp16 (bool): whether to train
            in half precision
    """
    for x in loader:
        opt.zero_grad()
        loss = net(x).sum()
        if fp16:
            with amp.scale_loss(loss, opt) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        opt.step()


def main(args, loader):
    net = build().cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    if args.fp16:
        net, opt = amp.initialize(net, opt, opt_level="O1")
    train(net, opt, loader, args.fp16)


if __name__ == "__main__":
    main(parse_args(), batches())
