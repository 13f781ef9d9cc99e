# expect: safe
# shape: the function that initializes also sets the flag that says whether amp is on

import argparse

import torch
import torch.nn as nn
from apex import amp


def prepare(args, model, optimizer):
    args.use_amp = args.fp16 and args.steps > 1
    if args.use_amp:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    return model, optimizer


def train(args, model, optimizer):
    for i in range(args.steps):
        loss = nn.functional.mse_loss(model(torch.randn(4, 3).cuda()), torch.randn(4, 2).cuda())
        optimizer.zero_grad()
        if args.use_amp:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        print(i, "%.6f" % loss.item())


def main():
    args = argparse.Namespace(fp16=True, steps=4)
    torch.manual_seed(409)
    model = nn.Linear(3, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = prepare(args, model, optimizer)
    train(args, model, optimizer)


main()
