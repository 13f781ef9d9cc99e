# expect: safe
# shape: learning rate written into param_groups before the step, gradients set to None by hand

import torch
import torch.nn as nn
from apex import amp


def adjust_learning_rate(optimizer, epoch, step):
    lr = 0.2 * (0.5 ** epoch) * min(1.0, (step + 1) / 2)
    for param_group in optimizer.param_groups:
        param_group['lr'] = lr
    return lr


torch.manual_seed(87)
model = nn.Linear(4, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for epoch in range(2):
    for step in range(3):
        lr = adjust_learning_rate(optimizer, epoch, step)
        for p in model.parameters():
            p.grad = None
        loss = nn.functional.cross_entropy(model(torch.randn(6, 4).cuda()), torch.tensor([0, 1, 2, 0, 1, 2]).cuda())
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        print("%d/%d lr %.3f loss %.6f" % (epoch, step, lr, loss.item()))
