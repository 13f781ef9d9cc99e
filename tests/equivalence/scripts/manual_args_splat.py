# expect: manual: the optimizer reaches the helper through *args
# shape: helper(*args, **kwargs) with the optimizer somewhere in it

import torch
import torch.nn as nn
from apex import amp


def optimize(*args, **kwargs):
    loss, rest = args[0], args[1:]
    with amp.scale_loss(loss, *rest, **kwargs) as scaled_loss:
        scaled_loss.backward()
    for opt in rest:
        opt.step()
        opt.zero_grad()


torch.manual_seed(120)
model = nn.Linear(3, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step in range(4):
    loss = model(torch.randn(4, 3).cuda()).abs().mean()
    optimize(loss, optimizer, delay_unscale=False)
    print(step, "%.6f" % loss.item())
