# expect: safe

import functools
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def norm(model):
    return sum(float(p.grad.norm()) for p in model.parameters() if p.grad is not None)


class StepInfo:
    def __init__(self, model, step):
        self.model, self.step = model, step

    @functools.cached_property
    def grad_norm(self):
        return norm(self.model)


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    data = [(torch.randn(6, 4), torch.randint(0, 2, (6,))) for _ in range(4)]
    for step, (x, y) in enumerate(data):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        info = StepInfo(model, step)
        print("%d %.4f" % (info.step, info.grad_norm))
        optimizer.step()
    return list(model.parameters())


if __name__ == "__main__":
    main()
