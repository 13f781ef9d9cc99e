# expect: safe
# shape: the result of initialize under one name, unpacked later

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(35)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
pair = amp.initialize(model, optimizer, opt_level="O1")
model = pair[0]
optimizer = pair[1]
for i in range(4):
    loss = model(torch.randn(2, 4).cuda()).abs().sum()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(i, "%.5f" % loss.item())
