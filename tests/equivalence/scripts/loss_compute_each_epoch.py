# expect: safe
# shape: an object that keeps the optimizer is made anew for each epoch

import torch
import torch.nn as nn
from apex import amp


class SimpleLossCompute:
    def __init__(self, generator, criterion, opt=None):
        self.generator, self.criterion, self.opt = generator, criterion, opt

    def __call__(self, x, y, norm):
        x = self.generator(x)
        loss = self.criterion(x, y) / norm
        if self.opt is not None:
            with amp.scale_loss(loss, self.opt) as scaled:
                scaled.backward()
            self.opt.step()
            self.opt.zero_grad()
        return loss.item() * norm


def run_epoch(data, model, loss_compute):
    total = 0
    for x, y in data:
        loss = loss_compute(model(x), y, len(y))
        total += loss
    return total


def main():
    torch.manual_seed(0)
    model, gen = nn.Linear(4, 8), nn.Linear(8, 5)
    opt = torch.optim.Adam([*model.parameters(), *gen.parameters()], lr=0.01)
    [model, gen], opt = amp.initialize([model, gen], opt, opt_level="O1")
    crit = nn.CrossEntropyLoss(reduction="sum")
    data = [(torch.randn(6, 4), torch.randint(0, 5, (6,))) for _ in range(3)]
    out = []
    for _ in range(2):
        model.train()
        out.append(run_epoch(data, model, SimpleLossCompute(gen, crit, opt)))
        model.eval()
        with torch.no_grad():
            out.append(run_epoch(data, model, SimpleLossCompute(gen, crit)))
    return out


for value in main():
    print("%.6f" % value)
