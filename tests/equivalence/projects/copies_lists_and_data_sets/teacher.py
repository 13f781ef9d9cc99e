import copy

import torch


class Teacher:
    def __init__(self, student, decay=0.9):
        self.ema, self.decay = copy.deepcopy(student), decay

    @torch.no_grad()
    def update(self, student):
        for mine, other in zip(self.ema.parameters(), student.parameters()):
            mine.mul_(self.decay).add_(other, alpha=1 - self.decay)

    @torch.no_grad()
    def targets(self, x):
        return self.ema(x).float()


class Committee:
    def __init__(self, members):
        self.members = list(members)

    @torch.no_grad()
    def vote(self, x):
        return sum(m(x).float() for m in self.members)
