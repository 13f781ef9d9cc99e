# expect: safe
# shape: train and validate functions with model.train()/eval(), forwards of the evaluation ran under O1's patch too
# casts: real

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(103)


class AverageMeter(object):
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, val, n=1):
        self.sum += val * n
        self.count += n

    @property
    def avg(self):
        return self.sum / self.count


def train(loader, model, criterion, optimizer):
    losses = AverageMeter()
    model.train()
    for x, y in loader:
        x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
        out = model(x)
        loss = criterion(out, y)
        losses.update(loss.item(), x.size(0))
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
    return losses.avg


def validate(loader, model, criterion):
    losses, top1 = AverageMeter(), AverageMeter()
    # switch to evaluate mode
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            x, y = x.cuda(), y.cuda()
            # compute output
            output = model(x)
            loss = criterion(output, y)
            losses.update(loss.item(), x.size(0))
            top1.update((output.argmax(1) == y).float().mean().item(), x.size(0))
    return losses.avg, top1.avg


model = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Dropout(0.0), nn.Linear(6, 3)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss().cuda()
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
data = [(torch.randn(4, 4), torch.randint(0, 3, (4,))) for _ in range(3)]
for epoch in range(2):
    tr = train(data, model, criterion, optimizer)
    va, acc = validate(data, model, criterion)
    print("epoch %d train %.6f val %.6f acc %.4f" % (epoch, tr, va, acc))
