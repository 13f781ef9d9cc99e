# expect: review
# shape: a penalty with a plain backward beside the scaled one, its gradients in the same step
# differs: scaling
# argv:

import torch
import torch.nn as nn
from apex import amp


def main():
    torch.manual_seed(7)
    model = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
    for i in range(4):
        optimizer.zero_grad()
        penalty = 0.01 * model.weight.pow(2).sum()
        penalty.backward()
        loss = model(torch.randn(3, 4).cuda()).pow(2).mean()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        print(i, '%.6f %.6f' % (loss.item(), penalty.item()))


main()
