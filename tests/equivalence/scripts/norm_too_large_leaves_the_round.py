# expect: review: steps that are left out by the file's own condition, norms of every micro-batch
# shape: each arm looks at its norm and leaves the round, one loop that accumulates and one that does not
# argv: --level O0

import argparse
import math

import torch
import torch.nn as nn
from apex import amp

parser = argparse.ArgumentParser()
parser.add_argument("--level", default="O1", choices=["O0", "O1"])
args = parser.parse_args()
torch.manual_seed(12)


def train(model, loader, optimizer, steps):
    optimizer.zero_grad()
    for idx, (x, y) in enumerate(loader):
        loss = nn.functional.mse_loss(model(x.cuda()), y.cuda())
        if steps > 1:
            loss = loss / steps
            if args.level != "O0":
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
                norm = nn.utils.clip_grad_norm_(amp.master_params(optimizer), 5.0)
                if math.isinf(norm) or norm != norm or norm > 30:
                    print("batch index [{}] norm".format(idx))
                    optimizer.zero_grad()
                    continue
            else:
                loss.backward()
                norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
                if math.isinf(norm) or norm != norm or norm > 30:
                    print("batch index [{}] norm".format(idx))
                    optimizer.zero_grad()
                    continue
            if (idx + 1) % steps == 0:
                optimizer.step()
                optimizer.zero_grad()
        else:
            optimizer.zero_grad()
            if args.level != "O0":
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
                norm = nn.utils.clip_grad_norm_(amp.master_params(optimizer), 5.0)
                if not math.isfinite(norm) or norm > 30:
                    optimizer.zero_grad()
                    continue
            else:
                loss.backward()
                norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
                if not math.isfinite(norm) or norm > 30:
                    optimizer.zero_grad()
                    continue
            optimizer.step()
        print(idx, "%.5f" % loss.item(), "%.5f" % float(norm))


model = nn.Linear(4, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if args.level != "O0":
    model, optimizer = amp.initialize(model, optimizer, opt_level=args.level)
for steps in (2, 1):
    loader = [(torch.randn(4, 4), torch.randn(4, 3)) for _ in range(6)]
    for late in (2, 5):  # a round without a step, and one with
        loader[late] = (loader[late][0] * 50, loader[late][1])
    train(model, loader, optimizer, steps)
