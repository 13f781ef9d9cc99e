# expect: safe
# shape: the step is in another function which also clips, grad norms are logged
# argv: --amp
# argv:

import argparse
import torch
import torch.nn as nn
from apex import amp


def optimizer_step(args, model, optimizer, scheduler):
    if args.clip > 0:
        norm = nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        print("norm %.6f" % norm.item())
    optimizer.step()
    scheduler.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--amp", action="store_true")
    parser.add_argument("--clip", default=0.4, type=float)
    args = parser.parse_args()
    torch.manual_seed(83)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    if args.amp:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for step in range(6):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(torch.randn(5, 4).cuda()), torch.tensor([1, 0, 1, 0, 1]).cuda())
        if args.amp and step == 3:
            loss = loss * float("inf")
        if args.amp:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer_step(args, model, optimizer, scheduler)
        print(step, loss.item())


main()
