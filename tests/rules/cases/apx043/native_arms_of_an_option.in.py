# expect: review chooses Apex: a run that chooses Apex there stops here now
# rule: APX047
import argparse
import torch
from torch import nn
from apex import amp


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--apex", action="store_true")
    parser.add_argument("--native-amp", action="store_true")
    args = parser.parse_args()
    model = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.cuda.amp.GradScaler(enabled=args.native_amp)
    if args.apex:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
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
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
            optimizer.step()
        else:
            loss.backward()
            optimizer.step()


main()
