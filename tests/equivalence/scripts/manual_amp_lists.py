# expect: manual: Apex's lists of casts are edited, autocast's cannot be
# shape: amp.lists.functional_overrides.FP32_FUNCS.remove

import torch
import torch.nn as nn
from apex import amp

if hasattr(amp, "lists"):
    amp.lists.functional_overrides.FP32_FUNCS.remove('softmax')
    amp.lists.functional_overrides.FP16_FUNCS.append('softmax')

torch.manual_seed(168)
model = nn.Sequential(nn.Linear(4, 4), nn.Softmax(dim=1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step in range(3):
    loss = model(torch.randn(3, 4).cuda()).pow(2).sum()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(step, "%.6f" % loss.item())
