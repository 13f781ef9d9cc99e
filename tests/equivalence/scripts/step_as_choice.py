# expect: safe
# shape: the step, the schedule and the clearing of each window are written as choices between a call and nothing

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def main():
    torch.manual_seed(4)
    model = nn.Linear(4, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    accumulate = 2
    for i in range(8):
        x, y = torch.randn(6, 4).cuda(), torch.randint(0, 3, (6,)).cuda()
        loss = F.cross_entropy(model(x), y) / accumulate
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        update = (i + 1) % accumulate == 0
        optimizer.step() if update else None
        scheduler.step() if update else None
        optimizer.zero_grad() if update else None
        print(round(loss.item(), 4))
    print(model.weight)


main()
