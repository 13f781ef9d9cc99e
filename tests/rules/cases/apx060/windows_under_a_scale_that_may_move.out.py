import torch


def main(args, model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scale = "dynamic" if args.loss_scale == 0 else args.loss_scale
    scaler = torch.amp.GradScaler(
        "cuda", init_scale=float(scale) if scale not in (None, "dynamic") else 2.0**16
    )
    if scale not in (None, "dynamic"):
        scaler.set_growth_factor(1.0)  # a static loss scale
        scaler.set_backoff_factor(1.0)
    for number, x in enumerate(loader):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(x).sum()
        scaler.scale(loss).backward()
        if (number + 1) % 2 == 0:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()


if __name__ == "__main__":
    main(get_args(), torch.nn.Linear(2, 2), torch.randn(3, 2))
