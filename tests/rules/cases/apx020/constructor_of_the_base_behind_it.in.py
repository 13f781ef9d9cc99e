import torch
import torch.nn.functional as F
from apex import amp


class SimpleTrainer:
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
        loss = F.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class AMPTrainer(SimpleTrainer):
    def __init__(self, model, loader, optimizer):
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        super().__init__(model, loader, optimizer)

    def run_step(self):
        x, y = next(self.loader)
        loss = F.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()
