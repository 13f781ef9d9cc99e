# expect: safe
# shape: variable opt_level whose argparse choices are O0 and O1
# argv:
# argv: --opt_level O1
# argv: --opt_level O0

import argparse

import torch
import torch.nn as nn

from apex import amp

parser = argparse.ArgumentParser(description='toy')
parser.add_argument('--opt_level', type=str, default='O0', choices=['O0', 'O1'],
                    help='mixed precision opt level, if O0, no amp is used')
parser.add_argument('--epochs', default=2, type=int, metavar='N')
args = parser.parse_args()


def train(train_loader, model, criterion, optimizer, epoch):
    for i, (input, target) in enumerate(train_loader):
        input, target = input.cuda(), target.cuda()
        output = model(input)
        loss = criterion(output, target)
        # compute gradient and do SGD step
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        print('Epoch: [{0}][{1}/{2}]\tLoss {3:.6f}'.format(epoch, i, len(train_loader), loss.item()))


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                          nn.Linear(4, 5)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
    model, optimizer = amp.initialize(model, optimizer, opt_level=args.opt_level)
    criterion = nn.CrossEntropyLoss().cuda()
    loader = [(torch.randn(2, 3, 6, 6), torch.randint(0, 5, (2,))) for _ in range(3)]
    for epoch in range(args.epochs):
        train(loader, model, criterion, optimizer, epoch)


if __name__ == '__main__':
    main()
