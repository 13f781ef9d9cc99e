# expect: review: the level and the loss scale are decided at run time
# shape: options stand in a dictionary that is only there where mixed precision is on (argus: 'amp' in params)

import torch
import torch.nn as nn
from apex import amp

params = {"lr": 0.1}
torch.manual_seed(171)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=params["lr"])
use_amp = "amp" in params
if use_amp:
    model, optimizer = amp.initialize(
        model, optimizer, opt_level=params["amp"]["opt_level"], loss_scale=params["amp"]["loss_scale"]
    )
for step in range(4):
    optimizer.zero_grad()
    loss = model(torch.randn(3, 4).cuda()).pow(2).mean()
    if use_amp:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()
    print(step, "%.6f" % loss.item())
