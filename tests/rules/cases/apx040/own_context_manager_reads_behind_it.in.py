# expect: manual while they are still scaled
import torch
from apex import amp
from contextlib import contextmanager


@contextmanager
def watched(model):
    yield
    print(sum(p.grad.abs().sum() for p in model.parameters()))


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with watched(model):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    optimizer.step()
