import torch
import torch.nn.functional as F
from apex import amp


class Pretraining:
    def __init__(self, model):
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        self.model, self.optimizer = amp.initialize(model, optimizer, opt_level="O1")

    def fit(self, loader):
        for x in loader:
            self.optimizer.zero_grad()
            loss = F.mse_loss(self.model(x), x)
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.optimizer.step()

    def save(self, path):
        torch.save({"model": self.model.state_dict(), "amp": amp.state_dict()}, path)


class Finetuning:
    def __init__(self, model):
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
        self.model, self.optimizer = amp.initialize(model, optimizer, opt_level="O1")

    def fit(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.model(x), y)
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.optimizer.step()

    def save(self, path):
        torch.save({"model": self.model.state_dict(), "amp": amp.state_dict()}, path)
