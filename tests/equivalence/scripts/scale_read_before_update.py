# expect: review: between backward and step the scale is the old one
# shape: the loss scale is printed behind the backward, before the step

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(30)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step in range(4):
    loss = model(torch.randn(3, 4).cuda()).pow(2).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    print(step, loss.item(), amp._amp_state.loss_scalers[0].loss_scale())
    optimizer.step()
