# expect: review: the clip after every micro-batch moves under the step's condition
# shape: clip after every micro-batch in guard arms, bound so large that nothing is clipped
# argv:
# argv: --fp16

import argparse

import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
parser.add_argument("--gradient_accumulation_steps", type=int, default=3)
parser.add_argument("--max_grad_norm", type=float, default=100.0)
args = parser.parse_args()

if args.fp16:
    from apex import amp

torch.manual_seed(4)
model = nn.Sequential(nn.Linear(5, 5), nn.Tanh(), nn.Linear(5, 2)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
if args.fp16:
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
model.zero_grad()
for step in range(6):
    model.train()
    x, y = torch.randn(4, 5).cuda(), torch.randint(0, 2, (4,)).cuda()
    loss = nn.functional.cross_entropy(model(x), y)
    if args.gradient_accumulation_steps > 1:
        loss = loss / args.gradient_accumulation_steps
    if args.fp16:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), args.max_grad_norm)
    else:
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm)
    if (step + 1) % args.gradient_accumulation_steps == 0:
        optimizer.step()
        model.zero_grad()
    print("%d %.6f" % (step, loss.item()))
