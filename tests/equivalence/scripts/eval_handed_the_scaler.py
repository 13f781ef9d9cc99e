# expect: safe
# shape: validate(model, loader) cannot say `opt.fp16`, which lives in main(); it moves, prints and counts around its one
#        forward, and is called before the epochs, in them and behind them
# casts: real
# argv: --fp16
# argv:

import argparse

import torch
import torch.nn as nn
from apex import amp


@torch.no_grad()
def validate(model, loader, name="val"):
    model.eval()
    print("start", name)
    total, seen = 0.0, 0
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        out = model(x)
        total += nn.functional.cross_entropy(out, y, reduction="sum").item()
        seen += x.size(0)
    model.train()
    print("%s %.6f" % (name, total / seen))
    return total / seen


def evaluate(model, sets):
    return [validate(model, sets[name], name) for name in sorted(sets)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fp16", action="store_true")
    opt = parser.parse_args()
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if opt.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    data = [(torch.randn(4, 4), torch.randint(0, 3, (4,))) for _ in range(3)]
    validate(model, data, name="before")
    for epoch in range(2):
        for x, y in data:
            loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
            optimizer.zero_grad()
            if opt.fp16:
                with amp.scale_loss(loss, optimizer) as scaled:
                    scaled.backward()
            else:
                loss.backward()
            optimizer.step()
        validate(model, data)
    print(["%.6f" % v for v in evaluate(model, {"a": data[:1], "b": data[1:]})])


main()
