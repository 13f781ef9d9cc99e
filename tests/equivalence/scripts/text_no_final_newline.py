# expect: safe
# shape: no newline at the end of the file, the step is the last statement

import torch
from apex import amp

torch.manual_seed(131)
model = torch.nn.Linear(2, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for i in range(4):
    optimizer.zero_grad()
    loss = model(torch.ones(1, 2).cuda()).pow(2).sum()
    print(i, "%.6f" % loss.item())
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()