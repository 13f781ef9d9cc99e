# expect: safe
# shape: the old API, amp.init and wrap_optimizer, optimizer.scale_loss
# argv: --fp16
# argv:

import argparse
import torch
import torch.nn as nn
from apex import amp

parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()
torch.manual_seed(108)
amp_handle = amp.init(enabled=args.fp16)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = amp_handle.wrap_optimizer(optimizer)
for step in range(5):
    loss = nn.functional.mse_loss(model(torch.randn(4, 4).cuda()), torch.zeros(4, 2).cuda())
    if args.fp16 and step == 2:
        loss = loss * float("inf")
    optimizer.zero_grad()
    with optimizer.scale_loss(loss) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(step, loss.item())
