# expect: safe
# shape: several losses into one optimizer in a loop over tasks, gradients add up, one step, an overflow in one of them

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(71)
shared = nn.Linear(4, 5)
heads = nn.ModuleList([nn.Linear(5, 2) for _ in range(3)])
model = nn.ModuleList([shared, heads]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step in range(6):
    optimizer.zero_grad()
    total = 0.0
    for k, head in enumerate(heads):
        x = torch.randn(3, 4).cuda()
        loss = nn.functional.cross_entropy(head(torch.relu(shared(x))), torch.tensor([0, 1, 1]).cuda())
        if step == 2 and k == 1:
            loss = loss * float("inf")
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        total += loss.item()
    optimizer.step()
    print(step, total)
