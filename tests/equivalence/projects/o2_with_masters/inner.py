import math

import torch
from apex import amp


def inner_loop(net, opt, stats, steps=5):
    stats["norms"], stats["skips"] = [], 0
    for i in range(steps):
        loss = net(torch.randn(4, 3)).pow(2).mean() * (1e37 if i == 2 else 1.0)
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled:
            scaled.backward()
        norm = torch.nn.utils.clip_grad_norm_(amp.master_params(opt), 1.0)
        if not math.isfinite(float(norm)):
            stats["skips"] += 1
        else:
            stats["norms"].append(float(norm))
        opt.step()
