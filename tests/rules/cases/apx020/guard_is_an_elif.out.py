import torch


def main(args, loader):
    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.cpu:
        model = model.float()
    elif args.fp16:
        model = model.cuda()
    else:
        model = model.cuda()
    scaler = torch.amp.GradScaler("cuda", enabled=bool(not args.cpu and args.fp16))
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
