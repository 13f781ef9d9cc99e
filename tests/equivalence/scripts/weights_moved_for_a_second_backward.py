# expect: review: these gradients are still scaled here
# shape: AWP: a method moves the weights along their gradients, runs a second backward and puts them back

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class AWP:
    def __init__(self, model, optimizer, adv_lr=0.1, adv_eps=0.01):
        self.model, self.optimizer, self.adv_lr, self.adv_eps, self.backup = model, optimizer, adv_lr, adv_eps, {}

    def attack_step(self):
        for name, p in self.model.named_parameters():
            if p.requires_grad and p.grad is not None and "weight" in name:
                n1, n2 = torch.norm(p.grad), torch.norm(p.data.detach())
                if n1 != 0 and not torch.isnan(n1):
                    self.backup[name] = p.data.clone()
                    p.data.add_(self.adv_lr * p.grad / n1 * n2)

    def restore(self):
        for name, p in self.model.named_parameters():
            if name in self.backup:
                p.data = self.backup[name]
        self.backup = {}

    def attack_backward(self, x, y):
        self.attack_step()
        adv_loss = F.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        with amp.scale_loss(adv_loss, self.optimizer) as scaled:
            scaled.backward()
        self.restore()


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    model, opt = amp.initialize(model, opt, opt_level="O1")
    awp, out = AWP(model, opt), []
    for epoch in range(4):
        x, y = torch.randn(6, 4), torch.randint(0, 3, (6,))
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled:
            scaled.backward()
        if epoch >= 1:
            awp.attack_backward(x, y)
        opt.step()
        out.append(loss.item())
    return out


for value in main():
    print("%.6f" % value)
