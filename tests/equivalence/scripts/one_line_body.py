# expect: safe
# shape: one-line with body behind the colon, trailing spaces, import under if

import torch
from torch import nn, optim


class Options(object):
    fp16 = True
    niter = 5
    lr = 0.02


opt = Options()
torch.manual_seed(11)
net = nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1)).cuda()
optimizer = optim.Adam(net.parameters(), lr=opt.lr, betas=(0.5, 0.999))
if opt.fp16:    
    from apex import amp
    net, optimizer = amp.initialize(net, optimizer, opt_level='O1')             

for i in range(opt.niter):
    data = torch.randn(4, 3).cuda()
    loss = net(data).pow(2).mean()
    optimizer.zero_grad()
    if opt.fp16:                                
        with amp.scale_loss(loss, optimizer) as scaled_loss: scaled_loss.backward()                
    else:
        loss.backward()          
    optimizer.step()        
    print('(iter: %d) loss: %.5f' % (i, loss.item()))
