"""A comment behind the arm that goes, a blank line below it, is about what follows."""

import torch
from apex import amp


def train(args, loader):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for step, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(model(x), y)
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()

            # Gradient clip: if max_grad_norm < 0
        if (step + 1) % args.accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
