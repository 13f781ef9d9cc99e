import torch

try:
    from apex import amp
except ImportError:
    amp = None

_STATE = {"enabled": False}


def setup(model, optimizer, fp16):
    _STATE["enabled"] = bool(fp16) and amp is not None
    if _STATE["enabled"]:
        return amp.initialize(model, optimizer, opt_level="O1")
    return model, optimizer


def backward(loss, optimizer):
    if _STATE["enabled"]:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()


def main(args):
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = setup(model, optimizer, args.fp16)
    for x, y in loader:
        optimizer.zero_grad()
        backward(criterion(model(x), y), optimizer)
        optimizer.step()


main(parse())
