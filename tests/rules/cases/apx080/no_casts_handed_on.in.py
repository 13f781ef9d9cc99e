# expect: manual is handed on as an object here
import contextlib

import torch
from apex import amp

full_precision = amp.disable_casts


def gram(a, precisions=[full_precision]):
    with precisions[0]():
        a = a.float()
        return a.t() @ a


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = gram(model(x)).mean()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
