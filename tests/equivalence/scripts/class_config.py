# expect: safe
# shape: a class holds the options, its level is what the class says

import torch
import torch.nn as nn
import torch.nn.functional as F


class CFG:
    apex = True
    opt_level = "O1"
    epochs = 2
    lr = 0.1


if CFG.apex:
    from apex import amp


def train_fn(loader, model, optimizer):
    model.train()
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        if CFG.apex:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        print(round(loss.item(), 4))


def main():
    torch.manual_seed(6)
    data = [(torch.randn(6, 4).cuda(), torch.randint(0, 3, (6,)).cuda()) for _ in range(4)]
    data[1] = (data[1][0] * 1e36, data[1][1])
    model = nn.Linear(4, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=CFG.lr, momentum=0.9)
    if CFG.apex:
        model, optimizer = amp.initialize(model, optimizer, opt_level=CFG.opt_level, verbosity=0)
    for _ in range(CFG.epochs):
        train_fn(data, model, optimizer)
    print(model.weight)


main()
