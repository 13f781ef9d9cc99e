# expect: review: the gradients of an overflow are thrown away before this step
# shape: SAM's two steps for one epoch, clipped, and the ordinary step for the next

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

    def step(self, closure=None):
        self.base_optimizer.step()

    def _grad_norm(self):
        return torch.norm(
            torch.stack(
                [p.grad.norm(p=2) for group in self.param_groups for p in group["params"] if p.grad is not None]
            ),
            p=2,
        )


def train(model, optimizer, loader, sam, out):
    for i, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if sam:
            optimizer.first_step(zero_grad=True)
            with amp.scale_loss(F.cross_entropy(model(x), y), optimizer) as scaled_loss:
                scaled_loss.backward()
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 0.5)
            optimizer.second_step(zero_grad=True)
        else:
            optimizer.step()
            optimizer.zero_grad()
        out.append(loss.item())


def main():
    torch.manual_seed(0)
    out = []
    loader = [(torch.randn(6, 4), torch.randint(0, 3, (6,))) for _ in range(3)]
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    optimizer = SAM(model.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    train(model, optimizer, loader, True, out)
    train(model, optimizer, loader, False, out)
    return out


for value in main():
    print("%.6f" % value)
