import torch
from lib.savers import Checkpointer


class Trainer:
    def __init__(self, model, optimizer, callbacks, level):
        if level:
            self.model, self.optimizer = model, optimizer
        else:
            self.model, self.optimizer = model, optimizer
        self.scaler = torch.amp.GradScaler("cuda", enabled=bool(level))
        self.level = level
        self.handler = Checkpointer(callbacks, self)

    def step(self, batch):
        self.optimizer.zero_grad()
        self.handler.note("FORWARD")
        with torch.autocast("cuda", dtype=torch.float16, enabled=self.scaler.is_enabled()):
            loss = self.model(batch)
        self.scaler.scale(loss).backward()
        self.handler.note("BACKWARD")
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.handler.note("BATCH_END")


def main(loader, callbacks, args):
    net = torch.nn.Linear(4, 4).cuda()
    trainer = Trainer(net, torch.optim.SGD(net.parameters(), lr=0.1), callbacks, args.fp16)
    for batch in loader:
        trainer.step(batch)
