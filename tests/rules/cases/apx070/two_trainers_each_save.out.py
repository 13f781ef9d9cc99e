import torch
import torch.nn.functional as F


class Pretraining:
    def __init__(self, model):
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        self.model, self.optimizer = model, optimizer
        self.scaler = torch.amp.GradScaler("cuda")

    def fit(self, loader):
        for x in loader:
            self.optimizer.zero_grad()
            with torch.autocast("cuda", dtype=torch.float16):
                loss = F.mse_loss(self.model(x), x)
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()

    def save(self, path):
        torch.save({"model": self.model.state_dict(), "amp": self.scaler.state_dict()}, path)


class Finetuning:
    def __init__(self, model):
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
        self.model, self.optimizer = model, optimizer
        self.scaler = torch.amp.GradScaler("cuda")

    def fit(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            with torch.autocast("cuda", dtype=torch.float16):
                loss = F.cross_entropy(self.model(x), y)
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()

    def save(self, path):
        torch.save({"model": self.model.state_dict(), "amp": self.scaler.state_dict()}, path)
