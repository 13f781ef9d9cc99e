import torch


def train(net, opt, scaler, loader):
    """One epoch.

    Args:
        net (Module): the network
        opt (Optimizer): what steps
        scaler (torch.amp.GradScaler): the gradient scaler
        loader (DataLoader): batches
    """
    for x in loader:
        opt.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = net(x).sum()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()


def main(args, loader):
    net = build().cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=bool(args.fp16))
    train(net, opt, scaler, loader)


if __name__ == "__main__":
    main(parse_args(), batches())
