# expect: review share this loss
import torch
from apex import amp

model = build().cuda()
optimizers = [torch.optim.SGD(model.body.parameters(), lr=0.1), torch.optim.Adam(model.head.parameters())]
model, optimizers = amp.initialize(model, optimizers, opt_level="O1")
for x, y in loader:
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizers) as scaled_loss:
        scaled_loss.backward()
    for optimizer in optimizers:
        torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
        optimizer.step()
        optimizer.zero_grad()
