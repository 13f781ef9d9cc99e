# expect: manual gradients are read after every backward, but the optimizer steps under a condition
import torch
from apex import amp
from torch.nn import utils

model = build().cuda()
parameters = list(model.parameters())
optimizer = torch.optim.SGD(parameters, lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for i, (x, y) in enumerate(loader):
    loss = criterion(model(x), y) / 2
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    for limit, bound in ((utils.clip_grad_norm_, 1.0), (utils.clip_grad_value_, 0.1)):
        limit(parameters, bound)
    if (i + 1) % 2 == 0:
        optimizer.step()
        optimizer.zero_grad()
