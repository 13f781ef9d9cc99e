# expect: manual: the step inside the with runs on scaled gradients
# shape: optimizer.step() in the with body

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(123)
model = nn.Linear(4, 1).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for i in range(4):
    loss = model(torch.randn(4, 4).cuda()).pow(2).mean()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
        optimizer.step()
    optimizer.zero_grad()
    print(i, "%.6f" % loss.item())
