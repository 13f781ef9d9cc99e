# expect: safe
# shape: literal O0, nothing is scaled and nothing is cast

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(140)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O0")
for step in range(4):
    loss = nn.functional.mse_loss(model(torch.randn(3, 4).cuda()), torch.ones(3, 2).cuda())
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 0.5)
    optimizer.step()
    print(step, "%.6f" % loss.item())
