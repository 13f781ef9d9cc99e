from functools import partial

import torch


def train_step(model, optimizer, batch, scaler, *, fp16):
    with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
        loss = model(batch).mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


def main(args, loader):
    model = torch.nn.Linear(3, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=bool(args.fp16))
    step = partial(train_step, model=model, optimizer=optimizer, fp16=args.fp16, scaler=scaler)
    for batch in loader:
        step(batch=batch)
