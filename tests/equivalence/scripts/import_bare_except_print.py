# expect: safe
# shape: import apex in try with a bare except and a boolean constant, lower-case flag
# argv:
# argv: --amp

import sys

import torch
from torch import nn
try:
    import apex
    from apex import amp
    has_apex = True
except:
    has_apex = False

use_amp = '--amp' in sys.argv[1:]
if use_amp and not has_apex:
    print('Warning: apex was requested but not supported, falling back to float32.')
    use_amp = False

torch.manual_seed(28)
model = nn.Linear(4, 4).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if use_amp:
    model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
for step in range(4):
    out = model(torch.randn(3, 4).cuda())
    loss = nn.functional.cross_entropy(out, torch.tensor([0, 1, 2]).cuda())
    optimizer.zero_grad()
    if use_amp:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()
    print('%d %.6f' % (step, loss.item()))
