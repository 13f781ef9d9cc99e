import torch
from torch.nn.functional import cross_entropy


class Trainer:
    def __init__(self, args, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.scaler = torch.amp.GradScaler("cuda", enabled=bool(args.fp16))

    def step(self, x, y):
        with torch.autocast("cuda", dtype=torch.float16, enabled=self.scaler.is_enabled()):
            loss = cross_entropy(self.model(x), y)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()


def main(args, loader):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    if args.fp16:
        print("Got fp16!")

    # Amp's training.
    trainer = Trainer(args, model, optimizer)
    for x, y in loader:
        trainer.step(x, y)
