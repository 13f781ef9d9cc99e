# expect: safe
# shape: apex.optimizers imported in the same try and used under a flag, stays behind
# leaves: apex.optimizers
# argv: --fp16

import argparse

import torch
import torch.nn as nn

try:
    from apex import amp
    from apex.optimizers import FusedAdam
    HAS_APEX = True
except ImportError:
    HAS_APEX = False

parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
parser.add_argument("--fused", action="store_true")
args = parser.parse_args()

torch.manual_seed(165)
model = nn.Linear(4, 2).cuda()
if args.fused:
    optimizer = FusedAdam(model.parameters(), lr=0.05)
else:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
if args.fp16:
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step in range(4):
    loss = nn.functional.mse_loss(model(torch.randn(3, 4).cuda()), torch.ones(3, 2).cuda())
    optimizer.zero_grad()
    if args.fp16:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()
    print(step, "%.6f" % loss.item())
