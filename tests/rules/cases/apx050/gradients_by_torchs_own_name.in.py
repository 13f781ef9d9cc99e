import torch
from apex import amp

model = build().cuda()
parameters = list(model.parameters())
optimizer = torch.optim.SGD(parameters, lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    print(sum(p._grad.abs().sum() for p in parameters))
    optimizer.step()
