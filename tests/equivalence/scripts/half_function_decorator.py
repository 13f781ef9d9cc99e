# expect: safe
# shape: @amp.half_function over a matmul helper which autocast runs in half anyway
# casts: real

import torch
import torch.nn as nn
from apex import amp


@amp.half_function
def similarity(a, b):
    return torch.matmul(a, b.transpose(-2, -1))


torch.manual_seed(166)
model = nn.Linear(4, 4).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step in range(4):
    z = nn.functional.normalize(model(torch.randn(5, 4).cuda()), dim=1)
    loss = nn.functional.cross_entropy(similarity(z, z) / 0.5, torch.arange(5).cuda())
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(step, "%.6f" % loss.item())
