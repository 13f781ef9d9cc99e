# expect: safe
# shape: a generator yields named losses, each with a forward of its own, and the loop goes backward on each
# argv: --fp16
# argv:

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 8)
        self.kind = nn.Linear(8, 3)
        self.size = nn.Linear(8, 2)

    def forward(self, x, head):
        return getattr(self, head)(torch.relu(self.body(x)))


def losses(model, x, kind, size):
    out = model(x, "kind")
    yield "kind", 1.0, F.cross_entropy(out, kind)
    out = model(x, "size")
    weight = 0.5
    yield "size", weight, F.mse_loss(out, size)


parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()
torch.manual_seed(3)
model = Heads().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if args.fp16:
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step in range(4):
    x, kind, size = torch.randn(5, 6).cuda(), torch.arange(5).cuda() % 3, torch.randn(5, 2).cuda()
    optimizer.zero_grad()
    for name, weight, loss in losses(model, x, kind, size):
        if args.fp16:
            with amp.scale_loss(weight * loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            (weight * loss).backward()
        print(step, name, "%.6f" % loss.item())
    optimizer.step()
