import torch
from apex import amp


class Warmup:
    def __init__(self, optimizer, steps):
        self.optimizer, self.steps = optimizer, steps

    def step(self):
        self.optimizer.step()


def main(args, loader):
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    warmup = Warmup(**dict(optimizer=optimizer, steps=100))
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        warmup.step()
