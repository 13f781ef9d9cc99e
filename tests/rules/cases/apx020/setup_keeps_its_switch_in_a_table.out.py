import torch

_STATE = {"enabled": False}


def setup(model, optimizer, fp16):
    _STATE["enabled"] = bool(fp16)
    if _STATE["enabled"]:
        return model, optimizer
    return model, optimizer


def backward(loss, scaler):
    scaler.scale(loss).backward()


def main(args):
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = setup(model, optimizer, args.fp16)
    scaler = torch.amp.GradScaler("cuda", enabled=bool(_STATE["enabled"]))
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = criterion(model(x), y)
        backward(loss, scaler)
        scaler.step(optimizer)
        scaler.update()


main(parse())
