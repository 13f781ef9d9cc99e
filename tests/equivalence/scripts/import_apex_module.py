# expect: safe
# shape: import apex, apex.amp.initialize and apex.amp.scale_loss, apex.amp.master_params with a plain clip condition

import apex
import torch
import torch.nn as nn

torch.manual_seed(24)
model = nn.Sequential(nn.Linear(4, 6), nn.Sigmoid(), nn.Linear(6, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
model, optimizer = apex.amp.initialize(model, optimizer, opt_level="O1")
for step in range(5):
    optimizer.zero_grad()
    y_hat = model(torch.randn(8, 4).cuda())
    loss = nn.functional.mse_loss(y_hat, torch.zeros_like(y_hat))
    with apex.amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(apex.amp.master_params(optimizer), 0.3)
    optimizer.step()
    print(step, "%.6f" % loss.item(), "%.6f" % norm.item())
