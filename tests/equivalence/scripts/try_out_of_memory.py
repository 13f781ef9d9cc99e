# expect: review
# shape: forward and backward in a try that skips a batch on RuntimeError

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(157)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
sizes = [4, 4, 5, 4, 4]
for i, size in enumerate(sizes):
    x = torch.randn(3, size).cuda()
    optimizer.zero_grad()
    try:
        out = model(x)
        loss = nn.functional.cross_entropy(out, torch.tensor([0, 1, 0]).cuda())
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    except RuntimeError as e:
        print("skipped batch", i, type(e).__name__)
        continue
    optimizer.step()
    print(i, "%.6f" % loss.item())
