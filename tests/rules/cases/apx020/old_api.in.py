import torch
from apex import amp

handle = amp.init()
model = build().cuda()
optimizer = handle.wrap_optimizer(torch.optim.SGD(model.parameters(), lr=0.1))
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with optimizer.scale_loss(loss) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
