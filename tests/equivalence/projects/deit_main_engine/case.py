# expect: review

import argparse

import torch
import torch.nn as nn
from apex import amp

from engine import evaluate, train_one_epoch


def get_args(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--clip-grad", type=float, default=1.0)
    parser.add_argument("--opt_level", default="O1")
    parser.add_argument("--no-amp", action="store_true")
    return parser.parse_args(argv)


def main(argv=()):
    args = get_args(argv)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    args.use_amp = not args.no_amp
    if args.use_amp:
        model, optimizer = amp.initialize(model, optimizer, opt_level=args.opt_level)
    criterion = nn.CrossEntropyLoss()
    train = [(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(5)]
    val = [(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(2)]
    history = []
    for epoch in range(args.epochs):
        stats = train_one_epoch(model, criterion, train, optimizer, epoch, args)
        test = evaluate(model, criterion, val)
        print(f"epoch {epoch}: {stats['loss']:.5f} {test['loss']:.5f}")
        history.append((stats["loss"], test["loss"], test["acc"]))
    return history, list(model.parameters())


if __name__ == "__main__":
    print(main())
