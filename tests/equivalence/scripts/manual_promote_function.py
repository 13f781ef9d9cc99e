# expect: manual: promote_function has no native equivalent that can be written without its types
# shape: decorators promote_function and register_promote_function

import torch
import torch.nn as nn
from apex import amp


@amp.promote_function
def mix(a, b):
    return a * 0.5 + b * 0.5


torch.manual_seed(121)
model = nn.Linear(3, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step in range(4):
    x = torch.randn(4, 3).cuda()
    loss = mix(model(x), x).pow(2).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(step, "%.6f" % loss.item())
