# expect: safe
# shape: a function trains in float32 before amp.initialize, with the same model and optimizer
# casts: real
# argv:

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def pretrain(net, opt, batches):
    for x, y in batches:
        loss = F.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()


def main():
    torch.manual_seed(7)
    batches = [(torch.randn(4, 3).cuda(), torch.randn(4, 2).cuda()) for _ in range(6)]
    model = nn.Linear(3, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    pretrain(model, optimizer, batches[:2])
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for step, (x, y) in enumerate(batches):
        loss = F.mse_loss(model(x), y)
        if step == 3:
            loss = loss * float("inf")
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        print(step, "%.6f" % loss.item())


main()
