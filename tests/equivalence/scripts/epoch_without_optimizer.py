# expect: safe
# shape: one function trains and evaluates; an evaluation hands it no optimizer, through a second function
# argv: --fp16
# argv:

import sys

import torch
import torch.nn as nn
from apex import amp


def run_epoch(model, loader, optimizer=None):
    total = 0.0
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        if optimizer is not None:
            optimizer.zero_grad()
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            optimizer.step()
        total += loss.item()
    return total / len(loader)


def passes(model, loaders, optimizer):
    return [run_epoch(model, loader, optimizer) for loader in loaders]


def main(fp16):
    torch.manual_seed(21)
    model = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", enabled=fp16)
    loader = [(torch.randn(4, 4).cuda(), torch.randint(0, 2, (4,)).cuda()) for _ in range(3)]
    with torch.no_grad():
        print(passes(model, [loader[:1]], None))
    for epoch in range(2):
        print(passes(model, [loader, loader[:2]], optimizer))
        with torch.no_grad():
            print(run_epoch(model, loader), passes(model, [loader], None))


main("--fp16" in sys.argv)
