# expect: safe
# shape: args.amp = amp set in main and used in train
# argv: --fp16
# argv:

import argparse
import torch
import torch.nn as nn


def train(args, model, optimizer):
    for step in range(5):
        out = model(torch.randn(4, 3).cuda())
        loss = out.abs().mean()
        if args.fp16:
            with args.amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        model.zero_grad()
        print("%d %.6f" % (step, loss.item()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fp16", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(94)
    model = nn.Linear(3, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    if args.fp16:
        from apex import amp
        args.amp = amp
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    train(args, model, optimizer)


main()
