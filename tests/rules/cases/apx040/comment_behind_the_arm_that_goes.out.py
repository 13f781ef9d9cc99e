"""A comment behind the arm that goes, a blank line below it, is about what follows."""

import torch


def train(args, loader):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=bool(args.fp16))
    for step, (x, y) in enumerate(loader):
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = torch.nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()

        # Gradient clip: if max_grad_norm < 0
        if (step + 1) % args.accumulate == 0:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
