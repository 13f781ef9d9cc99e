# expect: safe
# shape: GAN with critic iterations, a helper takes the optimizer from a table by a name

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Trainer:
    def __init__(self, fp16=True):
        self.fp16 = fp16
        self.G = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 8))
        self.D = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
        self.optims = {
            "G": torch.optim.Adam(self.G.parameters(), lr=1e-2),
            "D": torch.optim.Adam(self.D.parameters(), lr=1e-2),
        }
        if fp16:
            (self.G, self.D), (self.optims["G"], self.optims["D"]) = amp.initialize(
                [self.G, self.D], [self.optims["G"], self.optims["D"]], opt_level="O1"
            )

    def backward(self, loss, name):
        optimizer = self.optims[name]
        if self.fp16:
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()

    def step(self, it, n_critic=2):
        real = torch.randn(5, 8) * (1e37 if it == 3 else 1)
        self.optims["D"].zero_grad()
        fake = self.G(torch.randn(5, 4)).detach()
        loss_d = F.softplus(self.D(fake)).mean() + F.softplus(-self.D(real)).mean()
        self.backward(loss_d, "D")
        self.optims["D"].step()
        if it % n_critic == 0:
            self.optims["G"].zero_grad()
            loss_g = F.softplus(-self.D(self.G(torch.randn(5, 4)))).mean()
            self.backward(loss_g, "G")
            self.optims["G"].step()
        return min(loss_d.item(), 1e9)


def main():
    torch.manual_seed(1)
    t = Trainer()
    return [t.step(i) for i in range(6)] + [p.sum().item() for p in t.G.parameters()]


for value in main():
    print("%.6f" % value)
