# expect: review: the gradients of an overflow are thrown away before this step
# shape: gradients of two batches make a step; after an exception for want of memory the round begins anew

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

torch.manual_seed(12)
model = nn.Linear(4, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step, size in enumerate((4, 4, 5, 4, 4, 4)):
    x, y = torch.randn(6, size).cuda(), torch.randint(0, 3, (6,)).cuda()
    try:
        loss = F.cross_entropy(model(x), y) / 2
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if (step + 1) % 2 == 0:
            optimizer.step()
            optimizer.zero_grad()
    except RuntimeError as e:
        print("out of memory at", step, type(e).__name__)
        optimizer.zero_grad()
        continue
    print(step, "%.6f" % loss.item())
