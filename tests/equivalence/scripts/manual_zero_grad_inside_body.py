# expect: manual: zero_grad inside the with does not clear the gradients that Apex has stashed
# shape: zero_grad as the first statement of the with body, gradients pile up over all steps

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(124)
model = nn.Linear(4, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for i in range(4):
    loss = model(torch.randn(4, 4).cuda()).pow(2).mean()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        optimizer.zero_grad()
        scaled_loss.backward()
    optimizer.step()
    print(i, "%.6f" % loss.item())
