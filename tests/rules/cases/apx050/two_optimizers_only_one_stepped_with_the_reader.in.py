# expect: manual
import torch
from apex import amp

model = build().cuda()
opt_a = torch.optim.SGD(model.body.parameters(), lr=0.1)
opt_b = torch.optim.Adam(model.head.parameters())
model, [opt_a, opt_b] = amp.initialize(model, [opt_a, opt_b], opt_level="O1")
for i, (x, y) in enumerate(loader):
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, [opt_a, opt_b]) as scaled_loss:
        scaled_loss.backward()
    print(sum(p.grad.norm() for p in model.parameters()))
    opt_a.step()
    opt_a.zero_grad()
    if i % 4 == 3:
        opt_b.step()
        opt_b.zero_grad()
