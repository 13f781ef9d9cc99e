import torch
from apex import amp
from torch.nn import utils

LIMITS = {"norm": utils.clip_grad_norm_, "value": utils.clip_grad_value_}

model = build().cuda()
parameters = list(model.parameters())
optimizer = torch.optim.SGD(parameters, lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    LIMITS[args.mode](parameters, 1.0)
    optimizer.step()
