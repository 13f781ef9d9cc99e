# expect: safe
# shape: seven batches in windows of three, the last of which is cut off and stepped: nothing is left to be cleared

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def train_epoch(model, optimizer, data, epoch):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(data):
        loss = F.cross_entropy(model(x), y) / 3
        if epoch == 1 and i == 6:
            loss = loss * 1e36
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if (i + 1) % 3 == 0 or (i + 1) == len(data):
            nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
            optimizer.step()
            optimizer.zero_grad()


def main():
    torch.manual_seed(5)
    model = nn.Linear(4, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    data = [(torch.randn(6, 4).cuda(), torch.randint(0, 3, (6,)).cuda()) for _ in range(7)]
    for epoch in range(3):
        train_epoch(model, optimizer, data, epoch)
        print(model.weight)


main()
