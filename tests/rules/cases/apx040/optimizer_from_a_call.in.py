# expect: manual
import torch
from apex import amp
from setup import get_optimizer

model = build().cuda()
model, optimizer = amp.initialize(model, get_optimizer(), opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, get_optimizer()) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
