# expect: safe
# shape: amp.master_params in a list, in a loop that clamps, and for a hand-made norm
# casts: real

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(162)
model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)).cuda()
optimizer = torch.optim.SGD([{"params": model[0].parameters(), "lr": 0.1}, {"params": model[2].parameters()}], lr=0.3)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
print("parameters", len(list(amp.master_params(optimizer))))
for step in range(5):
    loss = nn.functional.cross_entropy(model(torch.randn(4, 4).cuda()), torch.tensor([0, 1, 0, 1]).cuda())
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    params = [p for p in amp.master_params(optimizer) if p.grad is not None]
    total = sum(p.grad.data.pow(2).sum().item() for p in params) ** 0.5
    for p in amp.master_params(optimizer):
        p.grad.data.clamp_(-0.05, 0.05)
    optimizer.step()
    print(step, "%.6f %.6f" % (loss.item(), total))
