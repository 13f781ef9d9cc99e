# expect: review share this loss
import torch
from apex import amp

[body, head], [opt_body, opt_head] = [build(), build_head()], [make(1), make(2)]
[body, head], [opt_body, opt_head] = amp.initialize([body, head], [opt_body, opt_head], opt_level="O1")
for x, y in loader:
    opt_body.zero_grad()
    opt_head.zero_grad()
    loss = criterion(head(body(x)), y)
    with amp.scale_loss(loss, [opt_body, opt_head]) as scaled_loss:
        scaled_loss.backward()
    opt_body.step()
    opt_head.step()
