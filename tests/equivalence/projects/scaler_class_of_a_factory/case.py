# expect: review

import argparse

import torch
import torch.nn as nn
from data import batches
from engine import train_one_epoch
from model import Net
from utils import create_scaler

try:
    from apex import amp
except ImportError:
    amp = None


def main():
    torch.manual_seed(0)
    parser = argparse.ArgumentParser()
    parser.add_argument("--apex", action="store_true")
    args = parser.parse_args(["--apex"])
    model = Net().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    if args.apex:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    scaler = create_scaler(args)
    out = train_one_epoch(model, nn.CrossEntropyLoss(), batches(8, 1, bad=(3,)), optimizer, scaler)
    return out, [p.sum() for p in model.parameters()]


if __name__ == "__main__":
    print(main())
