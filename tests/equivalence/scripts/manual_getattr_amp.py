# expect: manual: amp is reached by getattr with a computed name
# shape: getattr(amp, name)

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(118)
init_name, scale_name = "initialize", "scale_" + "loss"
model = nn.Linear(3, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = getattr(amp, init_name)(model, optimizer, opt_level="O1")
for step in range(3):
    loss = model(torch.randn(4, 3).cuda()).pow(2).mean()
    optimizer.zero_grad()
    with getattr(amp, scale_name)(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(step, "%.6f" % loss.item())
