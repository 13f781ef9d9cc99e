# expect: manual gradients are read after every backward, but the optimizer steps under a condition
import torch
from apex import amp
from torch.nn import utils

limit = utils.clip_grad_value_

model = build().cuda()
parameters = list(model.parameters())
optimizer = torch.optim.SGD(parameters, lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for i, (x, y) in enumerate(loader):
    loss = criterion(model(x), y) / 2
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    limit(parameters, 1.0)
    if (i + 1) % 2 == 0:
        optimizer.step()
        optimizer.zero_grad()
