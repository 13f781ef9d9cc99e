# expect: review: an epoch that is left behind an overflow made Apex leave out a step of the next one as well
# differs: weights steps stdout
# shape: epochs run in a list comprehension, and one is left by break between its backward and its step

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def train_epoch(model, optimizer, epoch):
    total = 0.0
    optimizer.zero_grad()
    for step in range(4):
        x, y = torch.randn(6, 4).cuda(), torch.randint(0, 3, (6,)).cuda()
        loss = F.cross_entropy(model(x * (1e36 if epoch == 0 and step == 2 else 1)), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if loss.item() > 100:
            print("diverged")
            break
        optimizer.step()
        optimizer.zero_grad()
        total += loss.item()
    return total


def main():
    torch.manual_seed(5)
    model = nn.Linear(4, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    print(["%.5f" % total for total in [train_epoch(model, optimizer, epoch) for epoch in range(3)]])


main()
