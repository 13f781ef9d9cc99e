# expect: review: opt_level=args.opt_level is decided at run time: O0 switches autocast 
# casts: real

#!/usr/bin/env python
from __future__ import print_function
import argparse
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from apex import amp

parser = argparse.ArgumentParser(description='mixup / cutmix CIFAR training')
parser.add_argument('--lr', default=0.05, type=float)
parser.add_argument('--epoch', default=2, type=int)
parser.add_argument('--alpha', default=1., type=float)
parser.add_argument('--cutmix-prob', default=0.5, type=float)
parser.add_argument('--opt-level', default='O1')
parser.add_argument('--decay', default=1e-4, type=float)


class PreActBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.bn1 = nn.BatchNorm2d(c)
        self.conv1 = nn.Conv2d(c, c, 3, padding=1, bias=False)

    def forward(self, x):
        return x + self.conv1(F.relu(self.bn1(x)))


class PreActNet(nn.Module):
    def __init__(self, c=8, num_classes=4):
        super().__init__()
        self.conv = nn.Conv2d(3, c, 3, padding=1, bias=False)
        self.layer = PreActBlock(c)
        self.linear = nn.Linear(c, num_classes)

    def forward(self, x):
        out = F.avg_pool2d(self.layer(self.conv(x)), 8)
        return self.linear(out.view(out.size(0), -1))


def mixup_data(x, y, alpha, rng, device):
    lam = rng.beta(alpha, alpha) if alpha > 0 else 1
    index = torch.from_numpy(rng.permutation(x.size(0))).to(device)
    mixed_x = lam * x + (1 - lam) * x[index, :]
    return mixed_x, y, y[index], lam


def cutmix_data(x, y, alpha, rng, device):
    lam = rng.beta(alpha, alpha)
    index = torch.from_numpy(rng.permutation(x.size(0))).to(device)
    W, H = x.size(2), x.size(3)
    cut = np.sqrt(1. - lam)
    cx, cy = rng.randint(W), rng.randint(H)
    x1, x2 = np.clip([cx - int(W * cut) // 2, cx + int(W * cut) // 2], 0, W)
    y1, y2 = np.clip([cy - int(H * cut) // 2, cy + int(H * cut) // 2], 0, H)
    x = x.clone()
    x[:, :, x1:x2, y1:y2] = x[index, :, x1:x2, y1:y2]
    lam = 1 - ((x2 - x1) * (y2 - y1) / (W * H))
    return x, y, y[index], lam


def mixup_criterion(criterion, pred, y_a, y_b, lam):
    return lam * criterion(pred, y_a) + (1 - lam) * criterion(pred, y_b)


def main():
    args = parser.parse_args([])
    torch.manual_seed(20)
    rng = np.random.RandomState(20)
    device = 'cuda' if torch.cuda.is_available() else 'cpu'
    X, Y = torch.randn(16, 3, 8, 8), torch.randint(0, 4, (16,))
    net = PreActNet().to(device)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = optim.SGD(net.parameters(), lr=args.lr, momentum=0.9, weight_decay=args.decay)
    net, optimizer = amp.initialize(net, optimizer, opt_level=args.opt_level)

    def train(epoch):
        net.train()
        train_loss, correct, total = 0, 0, 0
        for b in range(0, 16, 4):
            inputs, targets = X[b:b + 4].to(device), Y[b:b + 4].to(device)
            mix = cutmix_data if rng.rand() < args.cutmix_prob else mixup_data
            inputs, targets_a, targets_b, lam = mix(inputs, targets, args.alpha, rng, device)
            outputs = net(inputs)
            loss = mixup_criterion(criterion, outputs, targets_a, targets_b, lam)
            train_loss += loss.item()
            total += targets.size(0)
            optimizer.zero_grad()
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            optimizer.step()
        return train_loss / 4

    def test():
        net.eval()
        with torch.no_grad():
            return F.softmax(net(X.to(device)), dim=1)

    logs = []
    for epoch in range(args.epoch):
        logs.append(train(epoch))
        for g in optimizer.param_groups:
            g['lr'] = args.lr * (0.1 if epoch >= 1 else 1.)
    return logs, test(), [p for p in net.parameters()]


if __name__ == "__main__":
    main()
