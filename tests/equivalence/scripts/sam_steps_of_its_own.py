# expect: safe
# shape: SAM: two steps of the optimizer's own by other names, the second backward from a helper

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base_optimizer, rho=0.05, **kwargs):
        defaults = dict(rho=rho, **kwargs)
        super(SAM, self).__init__(params, defaults)
        self.base_optimizer = base_optimizer(self.param_groups, **kwargs)
        self.param_groups = self.base_optimizer.param_groups

    @torch.no_grad()
    def first_step(self, zero_grad=False):
        grad_norm = self._grad_norm()
        for group in self.param_groups:
            scale = group["rho"] / (grad_norm + 1e-12)
            for p in group["params"]:
                if p.grad is None:
                    continue
                e_w = p.grad * scale.to(p)
                p.add_(e_w)
                self.state[p]["e_w"] = e_w
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def second_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.sub_(self.state[p]["e_w"])
        self.base_optimizer.step()
        if zero_grad:
            self.zero_grad()

    def _grad_norm(self):
        return torch.norm(
            torch.stack(
                [p.grad.norm(p=2) for group in self.param_groups for p in group["params"] if p.grad is not None]
            ),
            p=2,
        )


class Trainer:
    def __init__(self, model, optimizer, fp16=True):
        self.model, self.optimizer, self.fp16 = model, optimizer, fp16
        if fp16:
            self.model, self.optimizer = amp.initialize(model, optimizer, opt_level="O1")

    def backward(self, loss):
        if self.fp16:
            with amp.scale_loss(loss, self.optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()

    def step(self, x, y):
        loss = F.cross_entropy(self.model(x), y)
        self.backward(loss)
        self.optimizer.first_step(zero_grad=True)
        self.backward(F.cross_entropy(self.model(x), y))
        self.optimizer.second_step(zero_grad=True)
        return loss.item()


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    t = Trainer(model, SAM(model.parameters(), torch.optim.SGD, lr=0.1))
    return [t.step(torch.randn(6, 4) * (1e37 if i == 3 else 1), torch.randint(0, 3, (6,))) for i in range(5)]


for value in main():
    print("%.6f" % value)
