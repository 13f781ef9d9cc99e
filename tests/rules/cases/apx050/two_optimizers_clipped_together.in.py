# expect: review share this loss
import torch
from apex import amp

body, head = build().cuda(), build_head().cuda()
opt_a = torch.optim.SGD(body.parameters(), lr=0.1)
opt_b = torch.optim.Adam(head.parameters())
[body, head], [opt_a, opt_b] = amp.initialize([body, head], [opt_a, opt_b], opt_level="O1")
for x, y in loader:
    opt_a.zero_grad()
    opt_b.zero_grad()
    loss = criterion(head(body(x)), y)
    with amp.scale_loss(loss, [opt_a, opt_b]) as scaled_loss:
        scaled_loss.backward()
    torch.nn.utils.clip_grad_norm_(list(body.parameters()) + list(head.parameters()), 1.0)
    opt_a.step()
    opt_b.step()
