# expect: manual
import torch
from apex import amp

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
from functools import partial
setup = partial(amp.initialize, opt_level="O1", enabled=args.fp16)
model, optimizer = setup(model, optimizer)
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
