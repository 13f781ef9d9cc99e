# expect: safe
# shape: CRLF newlines, guard with arms
# argv:
# argv: --fp16

import argparse
import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument('--fp16', action='store_true')
args = parser.parse_args()
if args.fp16:
    try:
        from apex import amp
    except ImportError:
        raise ImportError("Please install apex from https://www.github.com/nvidia/apex to use fp16 training.")

torch.manual_seed(130)
model = nn.Linear(4, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if args.fp16:
    model, optimizer = amp.initialize(model, optimizer, opt_level='O1')

for step in range(5):
    loss = nn.functional.cross_entropy(model(torch.randn(3, 4).cuda()), torch.tensor([0, 1, 2]).cuda())
    if args.fp16:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 0.2)
    else:
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.2)
    optimizer.step()
    model.zero_grad()
    print(step, '%.6f' % loss.item())
