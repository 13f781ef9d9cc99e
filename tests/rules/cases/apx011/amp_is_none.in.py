import torch
try:
    from apex import amp
except ImportError:
    amp = None


def main(args, loader):
    if amp is None and args.fp16:
        raise RuntimeError("install apex")
    use_fp16 = args.fp16 and amp is not None
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if use_fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        if use_fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
