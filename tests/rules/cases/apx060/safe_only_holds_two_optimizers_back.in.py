# settings: safe_only=true
# expect: review share this loss
import torch
from apex import amp

model = build().cuda()
opt_a = torch.optim.SGD(model.body.parameters(), lr=0.1)
opt_b = torch.optim.Adam(model.head.parameters())
model, [opt_a, opt_b] = amp.initialize(model, [opt_a, opt_b], opt_level="O1")
for x, y in loader:
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, [opt_a, opt_b]) as scaled_loss:
        scaled_loss.backward()
    opt_a.step()
    opt_b.step()
    opt_a.zero_grad()
    opt_b.zero_grad()
