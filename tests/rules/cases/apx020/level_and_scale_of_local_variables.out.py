import torch


def main(half, dynamic):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler(
        "cuda", init_scale=128.0 if not dynamic else 1024.0, enabled=bool(half)
    )
    if not dynamic:
        scaler.set_growth_factor(1.0)  # a static loss scale
        scaler.set_backoff_factor(1.0)
    train(model, optimizer, scaler)


def train(model, optimizer, scaler):
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


main(args.half, args.dynamic)
