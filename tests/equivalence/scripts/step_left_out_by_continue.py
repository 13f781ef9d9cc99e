# expect: review
# shape: a step left out by continue where the norm of gradients is not finite; an overflow in the first round
# argv:

import torch
import torch.nn as nn
from apex import amp


def main():
    torch.manual_seed(5)
    model = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
    for i in range(6):
        loss = model(torch.randn(3, 4).cuda()).pow(2).mean()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if not torch.isfinite(norm) or i == 3:
            print(i, 'left out')
            continue
        optimizer.step()
        print(i, '%.6f %.6f' % (loss.item(), norm.item()))


main()
