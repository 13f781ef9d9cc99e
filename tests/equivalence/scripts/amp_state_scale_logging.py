# expect: safe
# shape: the loss scale read from _amp_state after the step, with overflows

import torch
import torch.nn as nn
from apex import amp
from apex.amp import _amp_state

torch.manual_seed(95)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step in range(7):
    loss = model(torch.randn(3, 4).cuda()).pow(2).mean()
    if step in (0, 1, 4):
        loss = loss * float("inf")
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    scale = _amp_state.loss_scalers[0].loss_scale()
    print("step %d loss %s scale %.1f" % (step, loss.item(), scale))
print("final", amp._amp_state.loss_scalers[0]._loss_scale)
