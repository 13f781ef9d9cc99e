# expect: safe
# casts: real
# Who evaluates is made by a name that is computed, or comes out of a table of a file's names, a package or a partial.
import functools
import importlib
import inspect
import sys

import torch
import torch.nn as nn
from apex import amp

import byname
import checks
import checks.spread


class Total:
    def __init__(self, task):
        self.task = task

    def run(self):
        with torch.no_grad():
            return self.task.net(torch.ones(1, 4)).float().sum().item()


class Task:
    def __init__(self):
        self.net = nn.Linear(4, 2)
        self.opt = torch.optim.SGD(self.net.parameters(), 0.1)
        self.net, self.opt = amp.initialize(self.net, self.opt, opt_level="O1")

    def step(self, x):
        loss = self.net(x).float().pow(2).mean()
        self.opt.zero_grad()
        with amp.scale_loss(loss, self.opt) as scaled:
            scaled.backward()
        self.opt.step()
        return loss.item()


def main(kind="Mean"):
    torch.manual_seed(15)
    task = Task()
    here = globals()["To" + "tal"](task)
    asked = getattr(sys.modules[__name__], "Total")(task)
    evaluated = eval("byname." + kind + "Check")(task)
    listed = [made(task) for name, made in inspect.getmembers(byname, inspect.isclass)]
    imported = importlib.import_module("largest").Largest(task)
    handed_on = checks.Spread(task)
    below = checks.spread.Spread(task)
    part = functools.partial(checks.Spread, task)()
    out = []
    for _ in range(3):
        out.append(task.step(torch.randn(2, 4)))
        out.append(here.run())
        out.append(asked.run())
        out.append(evaluated.run())
        out.append([one.run() for one in listed])
        out.append(imported.run())
        out.append(handed_on.run())
        out.append(below.run())
        out.append(part.run())
    return out


if __name__ == "__main__":
    print(main())
