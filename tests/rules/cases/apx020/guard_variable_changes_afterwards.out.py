import torch


def main(args, loader):
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    fp16 = args.fp16
    scaler = torch.amp.GradScaler("cuda", enabled=bool(fp16))
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    fp16 = False
    with torch.no_grad():
        for x, y in loader:
            with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
                output = model(x)
