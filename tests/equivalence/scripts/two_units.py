# expect: review: O2 keeps an fp16 model beside fp32 masters, autocast keeps fp32 weights
# shape: two training functions with initialize of their own in one file, one O1 and one O2

import torch
import torch.nn as nn
from apex import amp


def pretrain(net):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for i in range(3):
        loss = net(torch.ones(2, 4).cuda()).pow(2).mean()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        print("pretrain", i, "%.6f" % loss.item())


def finetune(net):
    head_opt = torch.optim.Adam(net.parameters(), lr=0.01)
    net, head_opt = amp.initialize(net, head_opt, opt_level="O2")
    for i in range(3):
        head_loss = (net(torch.ones(2, 4).cuda()) - 1).abs().mean()
        head_opt.zero_grad()
        with amp.scale_loss(head_loss, head_opt) as scaled:
            scaled.backward()
        head_opt.step()
        print("finetune", i, "%.6f" % head_loss.item())


torch.manual_seed(158)
pretrain(nn.Linear(4, 2).cuda())
finetune(nn.Linear(4, 2).cuda())
