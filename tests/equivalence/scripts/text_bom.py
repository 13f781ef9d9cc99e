# expect: safe
# shape: UTF-8 byte order mark, non-ASCII comment

import torch
from apex import amp

torch.manual_seed(133)
net = torch.nn.Linear(3, 1).cuda()  # 小さい
opt = torch.optim.SGD(net.parameters(), lr=0.3)
net, opt = amp.initialize(net, opt, opt_level='O1')
for i in range(4):
    loss = (net(torch.randn(5, 3).cuda()) - 1).pow(2).mean()
    opt.zero_grad()
    with amp.scale_loss(loss, opt) as scaled_loss:
        scaled_loss.backward()
    opt.step()
    print(i, '%.6f' % loss.item())
