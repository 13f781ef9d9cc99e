# expect: safe
# shape: try/except with amp = None, the guard asks whether amp is there

import torch
import torch.nn as nn

try:
    from apex import amp
except ImportError:
    amp = None

torch.manual_seed(22)
model = nn.Linear(6, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
if amp is not None:
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")

for step in range(5):
    loss = (model(torch.randn(4, 6).cuda()) - 0.5).pow(2).mean()
    optimizer.zero_grad()
    if amp is not None:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()
    print(f"{step} {loss.item():.6f}")
