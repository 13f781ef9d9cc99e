# expect: safe
# shape: accumulation under a no_sync context manager chosen by a conditional expression

import contextlib

import torch
import torch.nn as nn
from apex import amp

ACCUM = 3


class Wrapped(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return self.module(x)

    @contextlib.contextmanager
    def no_sync(self):
        yield


torch.manual_seed(161)
net = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.2)
net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
model = Wrapped(net)
for step in range(9):
    boundary = (step + 1) % ACCUM == 0
    with contextlib.nullcontext() if boundary else model.no_sync():
        loss = model(torch.randn(2, 4).cuda()).pow(2).mean() / ACCUM
        if step == 4:
            loss = loss * float("inf")
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    if boundary:
        optimizer.step()
        optimizer.zero_grad()
    print(step, loss.item())
