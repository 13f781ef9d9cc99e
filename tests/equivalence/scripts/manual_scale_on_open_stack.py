# expect: manual
# shape: an ExitStack with the scaled loss on it is kept open beyond its block

from contextlib import ExitStack

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(2)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step in range(3):
    loss = model(torch.randn(5, 4).cuda()).pow(2).mean()
    optimizer.zero_grad()
    with ExitStack() as stack:
        scaled_loss = stack.enter_context(amp.scale_loss(loss, optimizer))
        scaled_loss.backward()
        rest = stack.pop_all()
    optimizer.step()
    rest.close()
