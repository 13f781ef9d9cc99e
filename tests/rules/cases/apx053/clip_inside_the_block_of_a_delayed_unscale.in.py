# expect: manual the step is not taken every time
import torch
from apex import amp

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for i, (x, y) in enumerate(loader):
    loss = criterion(model(x), y)
    last = (i + 1) % 4 == 0
    with amp.scale_loss(loss, optimizer, delay_unscale=not last) as scaled_loss:
        scaled_loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if last:
        optimizer.step()
        optimizer.zero_grad()
