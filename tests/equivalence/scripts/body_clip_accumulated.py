# expect: review: inside the with Apex clips the gradients of this backward alone; now their sum is clipped at the step
# differs: weights|stdout
# shape: clip inside the with body while gradients accumulate over two micro-batches

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(169)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step in range(6):
    loss = model(torch.randn(3, 4).cuda()).pow(2).mean()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    if step % 2 == 1:
        optimizer.step()
        optimizer.zero_grad()
    print(step, "%.6f" % loss.item())
