import torch
import torch.nn.functional as F


class SimpleTrainer:
    scaler = torch.amp.GradScaler("cuda", enabled=False)

    def __init__(self, model, loader, optimizer):
        self.model = model
        self.loader = iter(loader)
        self.optimizer = optimizer
        self.norms = []

    def train(self, rounds):
        for self.iter in range(rounds):
            self.run_step()

    def run_step(self):
        x, y = next(self.loader)
        with torch.autocast("cuda", dtype=torch.float16, enabled=self.scaler.is_enabled()):
            loss = F.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class AMPTrainer(SimpleTrainer):
    def __init__(self, model, loader, optimizer):
        self.scaler = torch.amp.GradScaler("cuda")
        super().__init__(model, loader, optimizer)

    def run_step(self):
        x, y = next(self.loader)
        with torch.autocast("cuda", dtype=torch.float16, enabled=self.scaler.is_enabled()):
            loss = F.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
