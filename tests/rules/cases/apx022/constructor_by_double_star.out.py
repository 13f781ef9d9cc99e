import torch


class Warmup:
    def __init__(self, optimizer, steps, scaler):
        self.optimizer, self.steps = optimizer, steps
        self.scaler = scaler

    def step(self):
        self.scaler.step(self.optimizer)
        self.scaler.update()


def main(args, loader):
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=bool(args.fp16))
    warmup = Warmup(**dict(optimizer=optimizer, steps=100), scaler=scaler)
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        warmup.step()
