# expect: safe
# shape: the arms of the guard do more than the backward and differ
# argv:
# argv: --fp16

import argparse
import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_


def main(args):
    torch.manual_seed(149)
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    if args.fp16:
        from apex import amp
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for step in range(5):
        loss = nn.functional.cross_entropy(model(torch.randn(4, 4).cuda()), torch.tensor([0, 1, 1, 0]).cuda())
        if args.fp16:
            optimizer.zero_grad()
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            grad_norm = clip_grad_norm_(amp.master_params(optimizer), 0.5)
            optimizer.step()
            tag = "half"
        else:
            optimizer.zero_grad()
            loss.backward()
            grad_norm = clip_grad_norm_(model.parameters(), 0.25)
            optimizer.step()
            tag = "single"
        print(step, tag, "%.6f %.6f" % (loss.item(), grad_norm.item()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fp16", action="store_true")
    main(parser.parse_args())
