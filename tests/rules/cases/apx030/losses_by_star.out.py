import torch
import torch.nn.functional as F


class Solver:
    def __init__(self, model):
        self.model = model.cuda()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.scaler = torch.amp.GradScaler("cuda")

    def optimize(self, *losses):
        loss = sum(losses)
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def finetune(self, epoch, **losses):
        loss = losses["task"] + losses["extra"]
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def run(self, loader):
        for x, y in loader:
            with torch.autocast("cuda", dtype=torch.float16):
                output = self.model(x)
                loss = F.cross_entropy(output, y)
                loss_2 = output.pow(2).mean()
            self.optimize(loss, loss_2)
        for x, y in loader:
            with torch.autocast("cuda", dtype=torch.float16):
                output = self.model(x)
                loss = F.cross_entropy(output, y)
                loss_2 = output.pow(2).mean()
            self.finetune(1, task=loss, extra=loss_2)


Solver(build()).run(loader)
