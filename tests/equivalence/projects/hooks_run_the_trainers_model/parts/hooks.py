import torch

from .evaluation import evaluate


class Hook:
    def after_step(self):
        pass


class Validate(Hook):
    """Under a name of its own."""

    def __init__(self, data, period):
        self.data, self.period, self.scores = data, period, []

    def after_step(self):
        if self.trainer.iter % self.period == 0:
            model = self.trainer.model
            model.eval()
            with torch.no_grad():
                self.scores.append(sum(model(x).float().sum().item() for x, _ in self.data))
            model.train()


class Collect(Hook):
    def __init__(self):
        self.kept = []

    @torch.no_grad()
    def after_step(self):
        self.kept.append(self.trainer.model.forward(torch.ones(2, 5)).float())
        self.kept.append(self.asked().model(torch.zeros(2, 5)).float())


class PreciseStatistics(Hook):
    """What it hands to another file."""

    def __init__(self, data):
        self.data, self.means = data, []

    def after_step(self):
        self.means.append(evaluate(self.trainer.model, self.data))
