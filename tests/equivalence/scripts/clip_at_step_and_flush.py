# expect: review
# shape: a clip with a guard in the rounds of the step, and a step for what is left behind the loop
# argv: --fp16

import sys
import torch
import torch.nn as nn
from apex import amp


def main():
    torch.manual_seed(6)
    fp16 = '--fp16' in sys.argv
    model = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
    for epoch in range(2):
        for i in range(8):
            loss = model(torch.randn(3, 4).cuda()).float().pow(2).mean() / 3
            if fp16:
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            if (i + 1) % 3 == 0:
                norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.05)
                if not torch.isfinite(norm):
                    optimizer.zero_grad()
                    continue
                optimizer.step()
                optimizer.zero_grad()
                print(i, '%.6f' % norm.item())
        if 8 % 3 != 0:
            optimizer.step()
            optimizer.zero_grad()


main()
