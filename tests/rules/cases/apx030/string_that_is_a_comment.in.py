"""A string that stands for a comment goes along below a header, all of it."""

import torch
from apex import amp


def train(args, loader):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        out = model(x)
        loss = torch.nn.functional.mse_loss(out, y)

        """
        ####################
        #  what was tried  #
        ####################
        """

        if args.more:
            loss += out.abs().mean()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        optimizer.zero_grad()
