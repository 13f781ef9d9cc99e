# expect: safe
# shape: a generator expression runs the model and is read where it stands: unpacked, summed, joined, gone through
# argv: --fp16
# argv:

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def alignment(model, pairs):
    with torch.no_grad():
        a, b = (F.normalize(model(p).float(), dim=-1) for p in pairs)
        return (a - b).norm(dim=1).mean().item()


def spread(model, parts):
    total = 0.0
    with torch.no_grad():
        for index, out in enumerate(model(p).float().std() for p in parts):
            total += out.item() * (index + 1)
    return total


parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()
torch.manual_seed(11)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 4)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if args.fp16:
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step in range(4):
    triple = [torch.randn(5, 6).cuda() for _ in range(3)]
    optimizer.zero_grad()
    anchor, near, far = (F.normalize(model(t), dim=1) for t in triple)
    loss = F.triplet_margin_loss(anchor, near, far, margin=1.0)
    if args.fp16:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()
    print(step, "%.5f %.3f %.3f" % (loss.item(), alignment(model, triple[:2]), spread(model, triple)))
