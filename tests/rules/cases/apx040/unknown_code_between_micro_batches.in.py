# expect: review it must not look at their size
import torch
from apex import amp
from hooks import Hooks

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
hooks = Hooks(model)
for x, y in loader:
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    hooks.after_backward()
    if ready():
        optimizer.step()
        optimizer.zero_grad()
