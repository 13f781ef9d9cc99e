import torch
from apex import amp

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    with amp.scale_loss(loss := criterion(model(x), y), optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(loss.item())
