# expect: review: native AMP skips each optimizer on its own, Apex skipped all
# shape: list of optimizers in one scale_loss, an infinite gradient in only one of them
# differs: weights|stdout|steps

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(34)
a = nn.Linear(3, 1).cuda()
b = nn.Linear(3, 1).cuda()
opt_a = torch.optim.SGD(a.parameters(), lr=0.1)
opt_b = torch.optim.SGD(b.parameters(), lr=0.1)
[a, b], [opt_a, opt_b] = amp.initialize([a, b], [opt_a, opt_b], opt_level="O1")

for step in range(5):
    x = torch.randn(4, 3).cuda()
    opt_a.zero_grad()
    opt_b.zero_grad()
    out_a = a(x)
    if step == 2:
        out_a = out_a * float("inf")
    out_b = b(x)
    loss = (out_a - 1).abs().mean() + (out_b - 1).abs().mean()
    with amp.scale_loss(loss, [opt_a, opt_b]) as scaled_loss:
        scaled_loss.backward()
    opt_a.step()
    opt_b.step()
    print(step, a.weight.sum().item(), b.weight.sum().item())
