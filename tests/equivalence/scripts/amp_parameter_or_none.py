# expect: safe
# shape: a function takes amp or None as a parameter, and an import that runs at times fills it
# argv: --fp16
# argv:

import sys

import torch
import torch.nn as nn


def optimize(loss, optimizer, amp=None):
    optimizer.zero_grad()
    if amp is not None:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()


def main(fp16):
    torch.manual_seed(15)
    model = nn.Linear(3, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    amp = None
    if fp16:
        from apex import amp
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for step in range(6):
        loss = model(torch.randn(4, 3).cuda()).pow(2).mean()
        if step == 2:
            loss = loss * 1e37
        optimize(loss, optimizer, amp=amp)
        print("%d %.6f" % (step, loss.item()))
    print(model.weight.sum().item())


main("--fp16" in sys.argv)
