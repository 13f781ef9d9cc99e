# expect: review
# shape: a clip under a condition of its own after every micro-batch, in both arms; the step comes after three
# argv: --fp16

import sys
import torch
import torch.nn as nn
from apex import amp


def main():
    torch.manual_seed(6)
    fp16, max_norm = "--fp16" in sys.argv, 100.0
    model = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
    count = 0
    for i in range(12):
        loss = model(torch.randn(3, 4).cuda()).float().pow(2).mean()
        if i == 4:
            loss = loss * 1e38
        if fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            if max_norm > 0:
                torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), max_norm)
        else:
            loss.backward()
            if max_norm > 0:
                torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            count += 1
        if i % 3 == 2:
            optimizer.step()
            optimizer.zero_grad()
        print(i, count, '%.5f' % loss.item())
    print([round(p.sum().item(), 5) for p in model.parameters()])


main()
