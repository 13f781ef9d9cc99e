# expect: safe
# shape: a function gives amp or None, args carries it, the function that initializes sets it
# argv: --fp16
# argv:

import argparse
import torch
import torch.nn as nn


def get_amp(fp16):
    if fp16:
        try:
            from apex import amp
        except ImportError:
            raise ImportError("Please install apex")
    else:
        amp = None
    return amp


def prepare(args, model, optimizer):
    args.amp = get_amp(args.fp16)
    if args.amp:
        model, optimizer = args.amp.initialize(model, optimizer, opt_level="O1")
    return model, optimizer


def train(args, model, optimizer):
    for step in range(5):
        loss = model(torch.randn(4, 3).cuda()).abs().mean()
        if args.amp:
            with args.amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        nn.utils.clip_grad_norm_(args.amp.master_params(optimizer) if args.amp else model.parameters(), 0.1)
        optimizer.step()
        model.zero_grad()
        print("%d %.6f" % (step, loss.item()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fp16", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(19)
    model = nn.Linear(3, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    model, optimizer = prepare(args, model, optimizer)
    train(args, model, optimizer)


main()
