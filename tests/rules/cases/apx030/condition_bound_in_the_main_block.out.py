import torch


def validate(model, loader, scaler):
    with torch.no_grad():
        for x, y in loader:
            with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
                output = model(x)
            print(output.argmax(1))


def train(loader, options):
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=bool(options.fp16))
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    validate(model, loader, scaler=scaler)


if __name__ == "__main__":
    options = parse()
    train(load(), options)
