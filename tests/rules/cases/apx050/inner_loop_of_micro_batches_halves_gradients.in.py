# expect: manual
import torch
from apex import amp

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for batch in loader:
    optimizer.zero_grad()
    for x, y in batch.split(4):
        loss = criterion(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        [p.grad.mul_(0.5) for p in model.parameters()]
    optimizer.step()
