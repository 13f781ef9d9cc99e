# expect: safe
# shape: gradients are cleared ahead of the backward where one makes a step, and behind the step where several do: two tests of one number
# argv: --fp16
# argv: --accumulation_steps 1
# argv: --accumulation_steps 1 --fp16
# argv: --accumulation_steps 3 --fp16
import argparse

import torch
import torch.nn as nn
from apex import amp


def train_one_epoch(model, criterion, optimizer, scheduler, loader, args):
    model.train()
    losses = []
    for index, (images, labels) in enumerate(loader):
        loss = criterion(model(images), labels)
        loss = loss / args.accumulation_steps
        if args.accumulation_steps == 1:
            optimizer.zero_grad()
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        if args.accumulation_steps > 1:
            if (index + 1) % args.accumulation_steps == 0:
                optimizer.step()
                optimizer.zero_grad()
                scheduler.step()
        else:
            optimizer.step()
            scheduler.step()
        losses.append(loss.item())
    return losses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fp16", action="store_true")
    parser.add_argument("--accumulation_steps", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(0)
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    loader = [(torch.randn(5, 4), torch.randint(0, 3, (5,))) for _ in range(6)]
    for _ in range(2):
        print(train_one_epoch(model, nn.CrossEntropyLoss(), optimizer, scheduler, loader, args))


if __name__ == "__main__":
    main()
