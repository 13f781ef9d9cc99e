# expect: manual is handed on
from contextlib import ExitStack
import torch
from apex import amp

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with ExitStack() as stack:
        scaled_loss = stack.enter_context(amp.scale_loss(loss, optimizer))
        scaled_loss.backward()
        rest = stack.pop_all()
    rest.close()
    optimizer.step()
