# expect: review: a static --loss_scale would never skip a step
# shape: loss_scale variable, "dynamic" when zero
# argv: --fp16
# argv: --fp16 --loss_scale 1024

import argparse

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--fp16', default=False, action='store_true')
    parser.add_argument('--loss_scale', type=float, default=0,
                        help="Loss scaling to improve fp16 numeric stability. Only used when fp16 set to True.\n"
                             "0 (default value): dynamic loss scaling.\n"
                             "Positive power of 2: static loss scaling value.\n")
    args = parser.parse_args()
    torch.manual_seed(58)
    model = nn.Linear(6, 3).cuda()
    optimizer = torch.optim.Adamax(model.parameters(), lr=0.05)
    if args.fp16:
        from apex import amp
        if args.loss_scale == 0:
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale="dynamic")
        else:
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale=args.loss_scale)
    for step in range(4):
        loss = nn.functional.multi_margin_loss(model(torch.randn(5, 6).cuda()), torch.tensor([0, 1, 2, 1, 0]).cuda())
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(step, "%.6f" % loss.item())


if __name__ == "__main__":
    main()
