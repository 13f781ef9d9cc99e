# expect: safe
# shape: steps that are left out are counted by the loss scale, read through a name of its own

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(29)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
loss_scaler = amp._amp_state.loss_scalers[0]
skipped = 0
for step in range(7):
    loss = model(torch.randn(3, 4).cuda()).pow(2).mean()
    if step in (0, 3):
        loss = loss * float("inf")
    before = loss_scaler.loss_scale()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    if loss_scaler.loss_scale() < before:
        skipped += 1
    print(step, loss.item(), [entry["loss_scale"] for entry in amp.state_dict().values()])
print("skipped", skipped)
