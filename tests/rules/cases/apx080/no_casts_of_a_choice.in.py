import contextlib

import torch

try:
    from apex import amp
except ImportError:
    amp = None

full_precision = contextlib.nullcontext if amp is None else amp.disable_casts


def gram(a):
    with full_precision():
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
