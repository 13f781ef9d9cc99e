# expect: safe
# shape: try/except with print and sys.exit
# argv: --apex
# argv:

import sys
import argparse

import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument('--apex', action='store_true', help='use apex for mixed precision')
args = parser.parse_args()
if args.apex:
    try:
        from apex import amp
    except ImportError:
        print("Failed to import apex. Please install apex from https://www.github.com/nvidia/apex to enable "
              "mixed-precision training.")
        sys.exit(1)


def train_one_epoch(model, criterion, optimizer, data_loader, device, apex=False):
    model.train()
    for image, target in data_loader:
        image, target = image.to(device), target.to(device)
        output = model(image)
        loss = criterion(output, target)

        optimizer.zero_grad()
        if apex:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        print("loss: {:.6f}".format(loss.item()))


def main(args):
    torch.manual_seed(23)
    device = torch.device("cuda")
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(12, 2))
    model.to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    if args.apex:
        model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
    loader = [(torch.rand(2, 2, 4, 4), torch.tensor([0, 1])) for _ in range(5)]
    train_one_epoch(model, criterion, optimizer, loader, device, args.apex)


if __name__ == "__main__":
    main(args)
