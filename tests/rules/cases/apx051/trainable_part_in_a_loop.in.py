import torch
from apex import amp

model = build().cuda()
for p in model.body.parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    total = 0
    for p in amp.master_params(optimizer):
        total += p.grad.norm().item() ** 2
    print(total)
    optimizer.step()
