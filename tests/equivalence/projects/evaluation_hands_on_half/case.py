# expect: review
# casts: real

import argparse
import torch
from factory import create
from loop import train_epoch
from evaluation import evaluate
from ema import ModelEMA


def get_args(argv=()):
    p = argparse.ArgumentParser()
    p.add_argument("--fp16", action="store_true", default=True)
    p.add_argument("--fp16_opt_level", type=str, default="O1")
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--clip", type=float, default=1.0)
    return p.parse_args(list(argv))


def main():
    torch.manual_seed(0)
    args = get_args()
    model, optimizer, scheduler = create(args)
    ema = ModelEMA(model, 0.9)
    h = []
    for e in range(2):
        h += train_epoch(args, model, optimizer, scheduler, ema, e)
        h.append(evaluate(args, ema.module))
        h.append(evaluate(args, model))
    return [h, list(model.parameters()), list(ema.module.parameters())]

if __name__ == "__main__":
    print(main())
