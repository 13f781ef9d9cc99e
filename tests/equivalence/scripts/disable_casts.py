# expect: safe
# shape: amp.disable_casts() round a part of the loss
# casts: real

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

torch.manual_seed(96)
encoder = nn.Linear(4, 6).cuda()
scorer = nn.Linear(6, 2).cuda()
optimizer = torch.optim.Adam(list(encoder.parameters()) + list(scorer.parameters()), lr=0.02)
[encoder, scorer], optimizer = amp.initialize([encoder, scorer], optimizer, opt_level="O1")
for step in range(5):
    h = torch.tanh(encoder(torch.randn(5, 4).cuda()))
    with amp.disable_casts():
        scores = scorer(h.float())
        penalty = torch.cdist(h.float(), h.float()).mean()
    loss = F.cross_entropy(scores, torch.tensor([0, 1, 1, 0, 1]).cuda()) + 0.01 * penalty
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(step, "%.6f %.6f" % (loss.item(), penalty.item()))
