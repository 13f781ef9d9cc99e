import torch
from apex import amp


def clip(model, bound):
    for p in model.parameters():
        p.grad.data.clamp_(-bound, bound)


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    clip(model, 0.1)
    optimizer.step()
