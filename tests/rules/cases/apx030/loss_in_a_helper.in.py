import torch
from apex import amp


def compute_loss(model, x, y):
    if x is None:
        return torch.zeros(())
    output = model(x)
    return criterion(output, y)


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = compute_loss(model, x, y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
