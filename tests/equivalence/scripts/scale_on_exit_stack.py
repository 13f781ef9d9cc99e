# expect: safe
# shape: the scaled loss is entered on an ExitStack, whose block ends before the clip
# argv: --fp16
# argv:

import argparse
import contextlib

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


@contextlib.contextmanager
def timer(name):
    print("start", name)
    yield
    print("stop", name)


parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()
torch.manual_seed(2)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if args.fp16:
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step in range(4):
    loss = F.mse_loss(model(torch.randn(5, 4).cuda()), torch.randn(5, 2).cuda())
    with timer("backward"), contextlib.ExitStack() as stack:
        optimizer.zero_grad()
        if args.fp16:
            loss = stack.enter_context(amp.scale_loss(loss, optimizer))
        loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    print(step, ["%.5f" % p.sum().item() for p in model.parameters()])
