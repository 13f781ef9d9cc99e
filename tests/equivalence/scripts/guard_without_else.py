# expect: safe
# shape: two ifs instead of if/else round the backward
# argv:
# argv: --fp16

import argparse
import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument('--fp16', action='store_true')
opt = parser.parse_args()
if opt.fp16:
    from apex import amp

torch.manual_seed(148)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if opt.fp16:
    model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
for step in range(5):
    loss = model(torch.randn(4, 4).cuda()).pow(2).mean()
    optimizer.zero_grad()
    if opt.fp16:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    if not opt.fp16:
        loss.backward()
    optimizer.step()
    print(step, "%.6f" % loss.item())
