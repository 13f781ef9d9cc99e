# expect: safe
# shape: the same evaluation runs before amp.initialize, in float32, and after it under O1's casts
# argv: --amp
# argv:

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def validate(model, batches):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for x, y in batches:
            total += F.cross_entropy(model(x.cuda()), y.cuda()).item()
    model.train()
    return total / len(batches)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--amp", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(9)
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = [(torch.randn(6, 5), torch.arange(6) % 3) for _ in range(3)]
    print("before %.6f" % validate(model, batches))
    if args.amp:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for epoch in range(2):
        for x, y in batches:
            loss = F.cross_entropy(model(x.cuda()), y.cuda())
            optimizer.zero_grad()
            if args.amp:
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            optimizer.step()
        print(epoch, "%.6f" % validate(model, batches))


main()
