# expect: safe
# shape: the loss is not reduced, scaled_loss.mean().backward() and torch.autograd.backward

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(160)
model = nn.Linear(4, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for i in range(6):
    out = model(torch.randn(4, 4).cuda())
    loss = nn.functional.cross_entropy(out, torch.tensor([0, 1, 2, 0]).cuda(), reduction="none")
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        if i % 2:
            scaled_loss.mean().backward()
        else:
            torch.autograd.backward(scaled_loss.sum())
    optimizer.step()
    print(i, ["%.5f" % v for v in loss.tolist()])
