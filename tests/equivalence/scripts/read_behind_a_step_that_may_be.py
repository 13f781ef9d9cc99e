# expect: safe
# shape: one function runs the backward and, if it is told so, the step; behind it gradients are read if it was told so

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

torch.manual_seed(9)


class ApexScaler:
    def __call__(self, loss, optimizer, clip_grad=None, need_update=True):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if need_update:
            if clip_grad is not None:
                torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), clip_grad)
            optimizer.step()


model = nn.Linear(4, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
loss_scaler = ApexScaler()
for i in range(6):
    x, y = torch.randn(4, 4).cuda(), torch.randint(0, 3, (4,)).cuda()
    need_update = (i + 1) % 2 == 0
    loss = F.cross_entropy(model(x), y) / 2
    loss_scaler(loss, optimizer, clip_grad=1.0, need_update=need_update)
    if need_update:
        for name, p in model.named_parameters():
            print(name, "%.5f" % p.grad.norm().item())
        optimizer.zero_grad()
