# expect: review these gradients are taken under autocast
import torch
from apex import amp

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    x.requires_grad_()
    output = model(x)
    slope, = torch.autograd.grad(output.sum(), x, create_graph=True)
    loss = criterion(output, y) + slope.pow(2).sum()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
