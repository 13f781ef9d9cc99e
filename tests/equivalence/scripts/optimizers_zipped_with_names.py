# expect: safe
# shape: networks and optimizers kept by name, initialized as lists and put back with zip; a helper is handed the name

import torch
import torch.nn as nn
from apex import amp


class Trainer:
    def __init__(self, model, optimizer, use_amp=True):
        self.model, self.optimizer, self.use_amp = model, optimizer, use_amp
        self.steps = 0
        if use_amp:
            names = ["G", "D"]
            nets, opts = amp.initialize([self.model[n] for n in names], [self.optimizer[n] for n in names], opt_level="O1")
            self.model = dict(zip(names, nets))
            self.optimizer = dict(zip(names, opts))

    def backward(self, loss, name):
        if self.use_amp:
            with amp.scale_loss(loss, self.optimizer[name]) as scaled:
                scaled.backward()
        else:
            loss.backward()

    def train(self, z, x):
        fake = self.model["G"](z)
        g_loss = nn.functional.mse_loss(fake, x)
        if self.steps > 1:
            g_loss = g_loss + nn.functional.softplus(-self.model["D"](fake)).mean()
        self.optimizer["G"].zero_grad()
        self.backward(g_loss, "G")
        nn.utils.clip_grad_norm_(self.model["G"].parameters(), 0.5)
        self.optimizer["G"].step()
        if self.steps > 1:
            d_loss = nn.functional.softplus(-self.model["D"](x)).mean() + nn.functional.softplus(self.model["D"](fake.detach())).mean()
            self.optimizer["D"].zero_grad()
            self.backward(d_loss, "D")
            nn.utils.clip_grad_norm_(self.model["D"].parameters(), 0.5)
            self.optimizer["D"].step()
        self.steps += 1
        return g_loss.item()


def main():
    torch.manual_seed(0)
    model = {"G": nn.Linear(4, 4), "D": nn.Linear(4, 1)}
    optimizer = {"G": torch.optim.Adam(model["G"].parameters(), lr=1e-2), "D": torch.optim.SGD(model["D"].parameters(), lr=1e-2)}
    t = Trainer(model, optimizer)
    out = [t.train(torch.randn(8, 4), torch.randn(8, 4)) for i in range(6)]
    return out, [p for n in t.model.values() for p in n.parameters()]


if __name__ == "__main__":
    print(main())
