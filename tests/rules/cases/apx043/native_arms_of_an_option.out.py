import argparse
import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--apex", action="store_true")
    parser.add_argument("--native-amp", action="store_true")
    args = parser.parse_args()
    model = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.cuda.amp.GradScaler(enabled=args.native_amp)
    if args.apex:
        raise RuntimeError("apex: Apex is no longer supported, use native AMP")
    train(args, model, optimizer, scaler, [])


def train(args, model, optimizer, scaler, loader):
    for x, y in loader:
        with torch.cuda.amp.autocast(enabled=args.native_amp):
            loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        if args.native_amp:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        elif args.apex:
            raise RuntimeError("apex: Apex is no longer supported, use native AMP")
        else:
            loss.backward()
            optimizer.step()


main()
