# expect: safe
# shape: a nullcontext stands in for scale_loss: in the with header, under a name, handed back by a function, in a
# shape: list of folds
# argv: --fp16
# argv:

import argparse
from contextlib import nullcontext

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def batches(seed):
    torch.manual_seed(seed)
    return [(torch.randn(5, 4).cuda(), torch.randn(5, 2).cuda()) for _ in range(3)]


def train(args, fold):
    torch.manual_seed(fold)
    model = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")

    def scaled(loss):
        return amp.scale_loss(loss, optimizer) if args.fp16 else nullcontext(loss)

    for x, y in batches(fold):
        loss = F.mse_loss(model(x), y)
        with (amp.scale_loss(loss, optimizer) if args.fp16 else nullcontext(loss)) as scaled_loss:
            scaled_loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    for x, y in batches(fold + 10):
        loss = F.mse_loss(model(x), y)
        context = nullcontext(loss) if not args.fp16 else amp.scale_loss(loss, optimizer)
        with context as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    for x, y in batches(fold + 20):
        loss = F.mse_loss(model(x), y)
        with scaled(loss) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return loss.item()


parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()
for fold, loss in enumerate([train(args, fold) for fold in range(3) if fold != 1]):
    print(fold, "%.5f" % loss)
