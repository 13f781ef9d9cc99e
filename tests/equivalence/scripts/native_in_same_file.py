# expect: safe
# shape: a native autocast and GradScaler elsewhere in the file stay as they are

import torch
import torch.nn as nn
from torch.cuda.amp import GradScaler, autocast
from apex import amp


def finetune_native(model, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = GradScaler(enabled=False)
    for _ in range(steps):
        optimizer.zero_grad()
        with autocast(enabled=False):
            loss = model(torch.ones(2, 3).cuda()).pow(2).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    print("native %.6f" % loss.item())


def pretrain_apex(model, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (model(torch.ones(2, 3).cuda()) - 1).pow(2).mean()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        print("apex %.6f" % loss.item())


torch.manual_seed(107)
finetune_native(nn.Linear(3, 2).cuda(), 3)
pretrain_apex(nn.Linear(3, 2).cuda(), 4)
