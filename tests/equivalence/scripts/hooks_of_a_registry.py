# expect: safe
# shape: hooks from a registry are called in a loop between backward and step, and one of them bounds gradients

import torch
import torch.nn as nn
from apex import amp

HOOKS = {}


def register(function):
    HOOKS[function.__name__] = function
    return function


@register
def bound(optimizer):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                p.grad.data.clamp_(-0.01, 0.01)


@register
def count(optimizer):
    print(sum(len(group["params"]) for group in optimizer.param_groups))


def backward(loss, optimizer, hooks=()):
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    for hook in hooks:
        hook(optimizer)
    optimizer.step()
    optimizer.zero_grad()


def main():
    torch.manual_seed(29)
    model = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    hooks = [HOOKS[name] for name in ("bound", "count")]
    for _ in range(5):
        x, y = torch.randn(8, 4).cuda(), (torch.arange(8) % 2).cuda()
        loss = nn.functional.cross_entropy(model(x), y)
        backward(loss, optimizer, hooks)
        print("%.4f" % loss.item())


main()
