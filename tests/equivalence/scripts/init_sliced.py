# expect: safe
# shape: only one element of the result is taken

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(144)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = amp.initialize(model, optimizer, opt_level="O1")[1]
for i in range(4):
    loss = model(torch.randn(5, 4).cuda()).abs().mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(i, "%.6f" % loss.item())
