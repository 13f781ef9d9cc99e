# expect: review: opt_level=args.apex_opt_level is decided at run time: O0 switches auto

"""Adapted from torchvision references/classification/train.py"""
import argparse
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

try:
    from apex import amp
except ImportError:
    amp = None


class SmoothedValue:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n

    @property
    def global_avg(self):
        return self.total / max(self.count, 1)


def accuracy(output, target, topk=(1,)):
    with torch.no_grad():
        maxk = max(topk)
        _, pred = output.topk(maxk, 1, True, True)
        correct = pred.t().eq(target[None])
        return [correct[:k].flatten().sum(dtype=torch.float32) * (100.0 / target.size(0)) for k in topk]


def train_one_epoch(model, criterion, optimizer, data_loader, device, epoch, print_freq, apex=False):
    model.train()
    meter, acc = SmoothedValue(), SmoothedValue()
    for i, (image, target) in enumerate(data_loader):
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

        acc1, acc2 = accuracy(output, target, topk=(1, 2))
        meter.update(loss.item(), image.shape[0])
        acc.update(acc1.item(), image.shape[0])
        if i % print_freq == 0:
            print("Epoch: [{}] iter {} loss {:.4f} acc {:.2f}".format(epoch, i, loss.item(), acc1.item()))
    return meter.global_avg, acc.global_avg


def evaluate(model, criterion, data_loader, device):
    model.eval()
    meter = SmoothedValue()
    with torch.no_grad():
        for image, target in data_loader:
            image = image.to(device, non_blocking=True)
            target = target.to(device, non_blocking=True)
            output = model(image)
            meter.update(criterion(output, target).item(), image.shape[0])
    return meter.global_avg


def parse_args(argv=None):
    parser = argparse.ArgumentParser(description="PyTorch Classification Training")
    parser.add_argument("--epochs", default=2, type=int)
    parser.add_argument("--lr", default=0.1, type=float)
    parser.add_argument("--print-freq", default=2, type=int)
    parser.add_argument("--test-only", dest="test_only", action="store_true")
    parser.add_argument("--apex", action="store_true", help="Use apex for mixed precision training")
    parser.add_argument("--apex-opt-level", default="O1", type=str)
    return parser.parse_args(argv)


def run(args):
    if args.apex and amp is None:
        raise RuntimeError("Failed to import apex. Please install apex from https://www.github.com/nvidia/apex "
                           "to enable mixed-precision training.")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(17)
    ds = TensorDataset(torch.randn(24, 3, 8, 8), torch.randint(0, 4, (24,)))
    loader = DataLoader(ds, batch_size=8, shuffle=False)
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4)).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)
    if args.apex:
        model, optimizer = amp.initialize(model, optimizer, opt_level=args.apex_opt_level)
    lr_scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.1)
    if args.test_only:
        return evaluate(model, criterion, loader, device)
    history = []
    for epoch in range(args.epochs):
        history.append(train_one_epoch(model, criterion, optimizer, loader, device, epoch, args.print_freq, args.apex))
        lr_scheduler.step()
        history.append(evaluate(model, criterion, loader, device=device))
    return history, list(model.parameters())


def main():
    return run(parse_args([])), run(parse_args(["--apex"]))


if __name__ == "__main__":
    main()
