# expect: safe
# shape: gradients that are too large, or not finite, are set to zero before the step, which is taken in any case

import torch
import torch.nn as nn
from apex import amp


def main():
    torch.manual_seed(24)
    net = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 1)).cuda()
    opt = torch.optim.AdamW(net.parameters(), lr=0.05, weight_decay=0.1)
    net, opt = amp.initialize(net, opt, opt_level="O1")
    for i in range(8):
        x = torch.randn(4, 4).cuda() * (50 if i in (2, 5) else 1)
        loss = net(x).pow(2).mean()
        if i == 4:
            loss = loss * 1e38
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled_loss:
            scaled_loss.backward()
        total = torch.stack([p.grad.norm() for p in net.parameters()]).norm()
        if total > 20 or not torch.isfinite(total):
            for p in net.parameters():
                p.grad.zero_()
        opt.step()
        print(i, loss.item() < 1e9, [round(p.sum().item(), 4) for p in net.parameters()])


main()
