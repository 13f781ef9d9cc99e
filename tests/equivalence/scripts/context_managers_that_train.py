# expect: safe
# shape: generators as context managers: one scales the loss, one clears and steps around a block, one does all of it

from contextlib import contextmanager

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


@contextmanager
def scaled(loss, opt, fp16=True):
    if fp16:
        with amp.scale_loss(loss, opt) as scaled_loss:
            yield scaled_loss
    else:
        yield loss


@contextmanager
def optimize(opt):
    opt.zero_grad()
    try:
        yield
    finally:
        opt.step()


@contextmanager
def training(loss, opt):
    opt.zero_grad()
    with amp.scale_loss(loss, opt) as scaled_loss:
        yield scaled_loss
    nn.utils.clip_grad_norm_(amp.master_params(opt), 0.5)
    opt.step()


def main():
    torch.manual_seed(0)
    model = nn.Linear(4, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for step in range(9):
        x, y = torch.randn(6, 4).cuda(), torch.randint(0, 3, (6,)).cuda()
        loss = F.cross_entropy(model(x), y)
        if step % 3 == 0:
            with optimize(optimizer), scaled(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        elif step % 3 == 1:
            with training(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            optimizer.zero_grad()
            with scaled(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            optimizer.step()
        print("%.5f" % loss.item())
    print(model.weight)


main()
