# expect: safe
# shape: optimizer.step() in a finally block

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(84)
model = nn.Linear(4, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for i in range(5):
    optimizer.zero_grad()
    loss = nn.functional.softplus(model(torch.randn(4, 4).cuda())).mean()
    try:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    finally:
        optimizer.step()
    print(i, "%.6f" % loss.item())
