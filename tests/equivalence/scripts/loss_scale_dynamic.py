# expect: safe
# shape: loss_scale="dynamic" spelled out, verbosity, a growing sequence of overflows

import torch
import torch.nn as nn
import torch.nn.functional as F
import apex

torch.manual_seed(16)
model = nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 4)).cuda()
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01)
model, optimizer = apex.amp.initialize(model, optimizer, opt_level="O1", verbosity=0, loss_scale="dynamic")
spikes = {1, 2, 5}
for step in range(8):
    target = torch.randint(0, 4, (5,)).cuda()
    log_probs = F.log_softmax(model(torch.randn(5, 6).cuda()), dim=-1)
    loss = F.nll_loss(log_probs, target)
    if step in spikes:
        loss = loss / 0.0
    optimizer.zero_grad()
    with apex.amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print("step=%d loss=%.6f w=%.6f" % (step, loss.item(), model[0].weight.abs().sum().item()))
