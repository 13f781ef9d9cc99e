# expect: safe
# shape: `if torch.isfinite(loss): backward`, a step in each round, gradients that are cleared behind it to zeros

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(5)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for i in range(8):
    x = torch.randn(5, 3).cuda() * (float("inf") if i in (0, 4) else 1.0)
    loss = nn.functional.mse_loss(model(x), torch.ones(5, 1).cuda())
    if torch.isfinite(loss):
        with amp.scale_loss(loss * (1e36 if i == 6 else 1.0), optimizer) as scaled_loss:
            scaled_loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
    print(i, "%.6f" % loss.item())
