# expect: safe
# shape: O1 casts without any scale_loss, the backward is plain

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(147)
model = nn.Linear(4, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
criterion = nn.CrossEntropyLoss()
for step in range(4):
    optimizer.zero_grad()
    output = model(torch.randn(3, 4).cuda())
    loss = criterion(output, torch.tensor([0, 1, 2]).cuda())
    loss.backward()
    optimizer.step()
    print(step, "%.6f" % loss.item())
