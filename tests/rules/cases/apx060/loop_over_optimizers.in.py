# expect: review share this loss
import torch
from apex import amp

model = build().cuda()
optimizers = [torch.optim.SGD(model.body.parameters(), lr=0.1), torch.optim.Adam(model.head.parameters())]
model, optimizers = amp.initialize(model, optimizers, opt_level="O1")
for x, y in loader:
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizers) as scaled_loss:
        scaled_loss.backward()
    for optimizer in optimizers:
        optimizer.step()
