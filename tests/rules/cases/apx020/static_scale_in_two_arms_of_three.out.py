import torch


def main(args):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler(
        "cuda",
        init_scale=128.0 if args.mode == "a" or args.mode == "b" else 2.0**16,
        enabled=bool(args.fp16),
    )
    if args.mode == "a" or args.mode == "b":
        scaler.set_growth_factor(1.0)  # a static loss scale
        scaler.set_backoff_factor(1.0)
    for x, y in args.loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
