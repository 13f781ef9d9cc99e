import torch
from torch.cuda import amp  # not apex

scaler = amp.GradScaler()
with amp.autocast():
    loss = criterion(model(x), y)
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
