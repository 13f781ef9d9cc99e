import torch
import torch.nn.functional as F
from apex import amp


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
        self.model, self.optimizer = amp.initialize(model, self.optimizer, opt_level="O1")

    def run_step(self):
        x, y = next(self.loader)
        loss = F.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()
