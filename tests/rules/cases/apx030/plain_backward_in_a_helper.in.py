import torch
from apex import amp


def forward_and_backward(model, optimizer, x, y):
    loss = criterion(model(x), y)
    loss.backward()
    return loss


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = forward_and_backward(model, optimizer, x, y)
    optimizer.step()
