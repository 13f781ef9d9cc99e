import torch


def train(args, model, loader, fisher):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cuda", enabled=bool(args.fp16))
    for step, x in enumerate(loader):
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = model(x).sum()
        if args.fp16:
            scaler.scale(loss).backward()
            loss_scale = scaler.get_scale()
            if (step + 1) % args.accumulate == 0:
                scaler.unscale_(optimizer)
                loss_scale = 1.0
            torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip * loss_scale)
        else:
            loss.backward()
        if (step + 1) % args.accumulate == 0:
            if args.natural:
                for n, p in model.named_parameters():
                    p.grad *= fisher[n]
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
