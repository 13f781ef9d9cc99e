# expect: review: the clip inside the with acted on scaled gradients; its threshold is kept as max_norm over scale
# differs: weights
# shape: clip inside the with body, so it sees scaled gradients

import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_
from apex import amp

torch.manual_seed(21)
model = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 1)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
model, optimizer = amp.initialize(model, optimizer, opt_level='O1', verbosity=0)

for i in range(6):
    optimizer.zero_grad()
    pred = model(torch.randn(10, 6).cuda()).squeeze(1)
    loss = nn.MSELoss()(pred, torch.ones(10).cuda())
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
        clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    print(i, '%.6f' % loss.item(), '%.6f' % model[0].weight.norm().item())
