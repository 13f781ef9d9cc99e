# expect: safe
# shape: lists of one model and one optimizer, destructured

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(143)
model = nn.Linear(4, 4).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
[model], [optimizer] = amp.initialize([model], [optimizer], opt_level="O1")
for i in range(4):
    loss = (model(torch.randn(2, 4).cuda()) + 1).pow(2).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, [optimizer]) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(i, "%.6f" % loss.item())
