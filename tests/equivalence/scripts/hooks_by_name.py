# expect: review: whether the hook scales is told by an argument of its own
# shape: hooks of a registry, called by a computed name; the optimizer's hook goes backward and steps
# argv: --fp16
# argv:

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Registry:
    def __init__(self):
        self.classes = {}

    def register(self, cls):
        self.classes[cls.__name__] = cls
        return cls

    def build(self, name, **options):
        return self.classes[name](**options)


HOOKS = Registry()


class Hook:
    def before_run(self, runner):
        pass

    def after_iter(self, runner):
        pass


@HOOKS.register
class OptimizerHook(Hook):
    def __init__(self, max_norm, fp16):
        self.max_norm, self.fp16 = max_norm, fp16

    def before_run(self, runner):
        runner.optimizer.zero_grad()

    def after_iter(self, runner):
        if self.fp16:
            with amp.scale_loss(runner.loss, runner.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            runner.loss.backward()
        nn.utils.clip_grad_norm_(runner.model.parameters(), self.max_norm)
        runner.optimizer.step()
        runner.optimizer.zero_grad()


@HOOKS.register
class PrintHook(Hook):
    def after_iter(self, runner):
        print("%.5f" % runner.loss.item())


class Runner:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.hooks, self.loss = [], None

    def call_hooks(self, moment):
        for hook in self.hooks:
            getattr(hook, moment)(self)

    def run(self, batches):
        self.call_hooks("before_run")
        for x, y in batches:
            self.loss = F.mse_loss(self.model(x), y)
            self.call_hooks("after_iter")


parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()
torch.manual_seed(9)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if args.fp16:
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
runner = Runner(model, optimizer)
runner.hooks.append(HOOKS.build("OptimizerHook", max_norm=1.0, fp16=args.fp16))
runner.hooks.append(HOOKS.build("PrintHook"))
runner.run([(torch.randn(5, 4).cuda(), torch.randn(5, 2).cuda()) for _ in range(4)])
