import torch
from apex import amp

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
net, opt = amp.initialize(model, optimizer)
for x, y in loader:
    opt.zero_grad()
    loss = criterion(net(x), y)
    with amp.scale_loss(loss, opt) as scaled_loss:
        scaled_loss.backward()
    opt.step()
