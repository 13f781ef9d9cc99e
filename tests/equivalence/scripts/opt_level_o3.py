# expect: review: O3 is a model in half without a scaler, autocast keeps fp32 weights
# shape: literal O3

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(10)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
model, optimizer = amp.initialize(model, optimizer, opt_level="O3")
for step in range(4):
    loss = model(torch.randn(4, 4).cuda()).mean() ** 2
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print("%.3f" % loss.item())
