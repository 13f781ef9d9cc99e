# expect: safe
# shape: from apex import amp as apex_amp, inside a function

import torch
import torch.nn as nn


def fit(net, batches, lr):
    from apex import amp as apex_amp

    opt = torch.optim.SGD(net.parameters(), lr=lr)
    net, opt = apex_amp.initialize(net, opt, opt_level="O1")
    total = 0.0
    for x, y in batches:
        loss = nn.functional.binary_cross_entropy_with_logits(net(x.cuda()), y.cuda())
        with apex_amp.scale_loss(loss, opt) as s:
            s.backward()
        opt.step()
        opt.zero_grad()
        total += loss.item()
    return total / len(batches)


torch.manual_seed(27)
net = nn.Linear(5, 1).cuda()
data = [(torch.randn(4, 5), torch.tensor([[0.], [1.], [1.], [0.]])) for _ in range(4)]
for epoch in range(2):
    print("epoch %d loss %.6f" % (epoch, fit(nn.Sequential(nn.Linear(5, 3), nn.Linear(3, 1)).cuda(), data, 0.3)))
print("%.4f" % net.weight.sum().item())
