# expect: review may be static
import torch
from apex import amp
from settings import cfg

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if cfg.amp:
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale=cfg.amp.loss_scale)
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    if cfg.amp:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()
