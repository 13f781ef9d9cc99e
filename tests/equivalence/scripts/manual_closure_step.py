# expect: manual: a closure is handed to step
# shape: optimizer.step(closure) with LBFGS-like use

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(117)
model = nn.Linear(3, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step in range(4):
    x, y = torch.randn(4, 3).cuda(), torch.zeros(4, 1).cuda()

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        return loss

    loss = optimizer.step(closure)
    print(step, "%.6f" % loss.item())
