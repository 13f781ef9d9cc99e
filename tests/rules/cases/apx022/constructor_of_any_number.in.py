# expect: review several optimizers share this loss
import torch
from apex import amp


class MultipleOptimizer:
    def __init__(self, *optimizers):
        self.optimizers = optimizers

    def step(self):
        for o in self.optimizers:
            o.step()


def main(model, loader):
    a = torch.optim.AdamW(model.dense.parameters(), lr=0.1)
    b = torch.optim.Adagrad(model.embedding.parameters(), lr=0.1)
    model, (a, b) = amp.initialize(model, [a, b], opt_level="O1")
    both = MultipleOptimizer(a, b)
    for x, y in loader:
        model.zero_grad()
        loss = criterion(model(x), y)
        with amp.scale_loss(loss, [a, b]) as scaled_loss:
            scaled_loss.backward()
        both.step()
