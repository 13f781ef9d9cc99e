# expect: review the norm is divided by the loss scale there
import torch
from apex import amp


def total_grad_norm(parameters):
    total = 0.0
    for p in parameters:
        total += p.grad.detach().norm(2) ** 2
    return total ** 0.5


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for i, (x, y) in enumerate(loader):
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    norm = total_grad_norm(model.parameters())
    print(norm)
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
