# expect: safe
# shape: gradients are read by attrgetter, format strings, eval, +=, a setter, generators, a pattern and a scheduler

from operator import attrgetter as getter

import torch
import torch.nn as nn
from apex import amp

FORMAT = "bias {p.grad}"
HISTORY = "sum(p.grad.norm().item() for p in model.parameters())"


class Total:
    value = 0.0

    def __iadd__(self, model):
        self.value += sum(p.grad.norm().item() for p in model.parameters())
        return self


class Watch:
    @property
    def model(self):
        return None

    @model.setter
    def model(self, model):
        print("%.4f" % sum(p.grad.norm().item() for p in model.parameters()))


class SlowsDown(torch.optim.lr_scheduler.LambdaLR):
    def get_lr(self):
        norms = [p.grad.norm().item() for g in self.optimizer.param_groups for p in g["params"] if p.grad is not None]
        return [0.5 / (1 + sum(norms)) for _ in self.base_lrs]


def watcher(model):
    while True:
        tag = yield
        print(tag, "%.4f" % sum(p.grad.norm().item() for p in model.parameters()))


def main():
    torch.manual_seed(31)
    model = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    grad_of, total, watch, told = getter("grad"), Total(), Watch(), watcher(model)
    norms = (p.grad.norm().item() for _ in range(4) for p in model.parameters())
    schedule = SlowsDown(optimizer, lambda epoch: 1.0)
    next(told)
    for step in range(9):
        x, y = torch.randn(8, 4).cuda(), (torch.arange(8) % 2).cuda()
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if step == 0:
            print("%.4f" % sum(grad_of(p).norm().item() for p in model.parameters()))
        elif step == 1:
            print(FORMAT.format(p=model.bias))
        elif step == 2:
            print("%.4f" % eval(HISTORY, {"model": model}))
        elif step == 3:
            total += model
        elif step == 4:
            watch.model = model
        elif step == 5:
            told.send("step")
        elif step == 6:
            print("%.4f" % next(norms))
        elif step == 7:
            match model.bias:
                case nn.Parameter(grad=found):
                    print("%.4f" % found.norm().item())
        else:
            schedule.step()
            print("%.4f" % schedule.get_last_lr()[0])
        optimizer.step()
    print("%.4f" % total.value)


main()
