import torch
import torch.nn.functional as F


class Trainer:
    def train(self, rounds):
        for self.iter in range(rounds):
            self.run_step()
            self.norms.append(sum(p.grad.norm() for p in self.model.parameters()))

    def run_step(self):
        raise NotImplementedError


class AMPTrainer(Trainer):
    def __init__(self, model, loader):
        self.loader, self.norms = iter(loader), []
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model = model
        self.scaler = torch.amp.GradScaler("cuda")

    def run_step(self):
        x, y = next(self.loader)
        with torch.autocast("cuda", dtype=torch.float16):
            loss = F.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
