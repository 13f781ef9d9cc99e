# expect: safe
# shape: the loss built by += over an inner loop, overflow in one of the terms

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(62)
cell = nn.GRUCell(3, 4).cuda()
head = nn.Linear(4, 3).cuda()
params = list(cell.parameters()) + list(head.parameters())
optimizer = torch.optim.Adam(params, lr=0.02)
[cell, head], optimizer = amp.initialize([cell, head], optimizer, opt_level="O1")
criterion = nn.MSELoss()
for it in range(6):
    seq = torch.randn(5, 2, 3).cuda()
    h = torch.zeros(2, 4).cuda()
    loss = 0
    for t in range(4):
        h = cell(seq[t], h)
        pred = head(h)
        if it == 3 and t == 2:
            pred = pred * 1e30
        loss += criterion(pred, seq[t + 1])
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    torch.nn.utils.clip_grad_norm_(params, 1.0)
    optimizer.step()
    print(it, loss.item())
