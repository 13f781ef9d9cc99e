import torch
import torch.nn.functional as F
from apex import amp


class Solver:
    def __init__(self, model):
        self.model = model.cuda()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def optimize(self, *losses):
        loss = sum(losses)
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()

    def finetune(self, epoch, **losses):
        loss = losses["task"] + losses["extra"]
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()

    def run(self, loader):
        for x, y in loader:
            output = self.model(x)
            self.optimize(F.cross_entropy(output, y), output.pow(2).mean())
        for x, y in loader:
            output = self.model(x)
            self.finetune(1, task=F.cross_entropy(output, y), extra=output.pow(2).mean())


Solver(build()).run(loader)
