# expect: safe
# shape: step under a warm-up condition, gradients pile up until then; zero_grad together with the step

import torch
import torch.nn as nn
from apex import amp

WARMUP = 2
torch.manual_seed(85)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=1e-2)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for it in range(7):
    loss = nn.functional.cross_entropy(model(torch.randn(4, 4).cuda()), torch.tensor([0, 1, 0, 1]).cuda())
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    if it >= WARMUP:
        optimizer.step()
        optimizer.zero_grad()
    print(it, "%.6f" % loss.item())
