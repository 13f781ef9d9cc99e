import torch


def train(args, model, loader, fisher):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cuda")
    for step, x in enumerate(loader):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(x).sum()
        scaler.scale(loss).backward()
        if (step + 1) % args.accumulate == 0:
            scaler.unscale_(optimizer)
            if args.clip > 0:
                torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
            if args.natural:
                for n, p in model.named_parameters():
                    p.grad *= fisher[n]
            with torch.autograd.profiler.record_function("step"):
                scaler.step(optimizer)
                scaler.update()
            optimizer.zero_grad()
