# expect: safe
# shape: run(mode, …) trains where mode is one of a list, and evaluates elsewhere: beside the optimizer in main(), and in
#        a run of its own without one, where there is no scaler to ask
# casts: real
# argv: train --fp16
# argv: train
# argv: valid --fp16

import argparse

import torch
import torch.nn as nn
from apex import amp


def run(args, mode, model, data, criterion=None, optimizer=None, fp16=None):
    if mode in ["train"]:
        model.train()
    elif mode in ("valid", "test"):
        model.eval()
    else:
        raise RuntimeError("unexpected mode %s" % mode)
    losses = []
    for i, (x, y) in enumerate(data):
        out = model(x.cuda())
        if mode in ["train", "valid"]:
            loss = criterion(out, y.cuda())
            losses.append(loss.item())
        if mode in ["train"]:
            if fp16:
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            if (i + 1) % args.accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()
    return losses


def train(args, model, data):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    if args.fp16:
        amp.initialize(model, optimizer, opt_level="O1")
    for epoch in range(2):
        run(args, "train", model, data, criterion=criterion, optimizer=optimizer, fp16=args.fp16)
        with torch.no_grad():
            print(["%.6f" % x for x in run(args, "valid", model, data, criterion=criterion)])


def valid(args, model, data):
    with torch.no_grad():
        print(["%.6f" % x for x in run(args, "valid", model, data, criterion=nn.CrossEntropyLoss())])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode")
    parser.add_argument("--fp16", action="store_true")
    parser.add_argument("--accumulate", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3)).cuda()
    data = [(torch.randn(4, 4), torch.randint(0, 3, (4,))) for _ in range(3)]
    if args.mode == "train":
        train(args, model, data)
    elif args.mode == "valid":
        valid(args, model, data)


main()
