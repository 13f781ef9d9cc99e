# expect: review
# shape: the norm that a clip returns is used after every micro-batch, the step comes after two
# argv:

import torch
import torch.nn as nn
from apex import amp


def main():
    torch.manual_seed(6)
    model = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
    for i in range(6):
        loss = model(torch.randn(3, 4).cuda()).pow(2).mean()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.05)
        if i % 2 == 1:
            optimizer.step()
            optimizer.zero_grad()
        print(i, '%.5f %.5f' % (loss.item(), norm.item()))


main()
