import torch
from apex import amp


class Trainer:
    def __init__(self, model, args):
        self.model, self.args = model, args
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.scale_loss = None
        if self.args.fp16:
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")
            self.scale_loss = amp.scale_loss

    def epoch(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = self.model(x, y)
            if self.args.fp16:
                with self.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            self.optimizer.step()


trainer = Trainer(build().cuda(), parse())
trainer.epoch(loader)
