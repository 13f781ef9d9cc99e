import torch
from apex import amp

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    output = model(x)
    loss_a = criterion(output, y)
    loss_b = penalty(output)
    with amp.scale_loss(loss_a, optimizer) as scaled_a:
        scaled_a.backward(retain_graph=True)
    with amp.scale_loss(loss_b, optimizer) as scaled_b:
        scaled_b.backward()
    optimizer.step()
