# expect: safe
# shape: losses[0] of a list of losses, the rest is only logged

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(64)
model = nn.Linear(4, 4).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")


def criterion(out, ref):
    l1 = nn.functional.l1_loss(out, ref)
    l2 = nn.functional.mse_loss(out, ref)
    return l1 + l2, l1, l2


for i in range(5):
    ref = torch.randn(2, 4).cuda()
    losses = criterion(model(ref), ref)
    with amp.scale_loss(losses[0], optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(i, ["%.5f" % l.item() for l in losses])
