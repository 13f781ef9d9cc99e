# expect: manual
import torch
from apex import amp

model = build().cuda()
optimizers = [torch.optim.SGD(model.parameters(), lr=0.1)]
model, optimizers = amp.initialize(model, optimizers, opt_level="O1")
for x, y in loader:
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizers) as scaled_loss:
        scaled_loss.backward()
    [optimizer.step() for optimizer in optimizers]
