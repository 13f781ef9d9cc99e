import copy
import torch
from torch import nn
from registry import TRAINERS
from base_trainer import BaseTrainer


@TRAINERS.register("adversarial")
class AdvTrainer(BaseTrainer):
    def after_setup(self):
        self.ema = copy.deepcopy(self.model).eval()

    def attack(self, x, y):
        delta = torch.zeros_like(x).uniform_(-0.1, 0.1).requires_grad_(True)
        loss = self.criterion(self.model(x + delta), y)
        grad, = torch.autograd.grad(loss, delta)
        return (delta + self.opts["adv_eps"] * grad.sign()).detach()

    def train_step(self, x, y):
        delta = self.attack(x, y)
        return super().train_step(x + delta, y)

    def before_step(self):
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)

    @torch.no_grad()
    def after_step(self):
        d = self.opts["ema"]
        for e, p in zip(self.ema.parameters(), self.model.parameters()):
            e.mul_(d).add_(p, alpha=1 - d)

    @torch.no_grad()
    def evaluate(self):
        backup, self.model = self.model, self.ema
        out = super().evaluate()
        self.model = backup
        return out
