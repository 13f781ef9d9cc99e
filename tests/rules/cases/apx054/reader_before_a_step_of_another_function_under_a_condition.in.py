# expect: review gradients are looked at here, and the step is taken in another function
import torch
from apex import amp


def backward(loss, model, optimizer):
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    print(sum(p.grad.norm() for p in model.parameters()))


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for i, (x, y) in enumerate(loader):
    loss = criterion(model(x), y)
    backward(loss, model, optimizer)
    if i % 4 == 3:
        optimizer.step()
        optimizer.zero_grad()
