"""A string that stands for a comment goes along below a header, all of it."""

import torch


def train(args, loader):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            out = model(x)
            loss = torch.nn.functional.mse_loss(out, y)

            """
            ####################
            #  what was tried  #
            ####################
            """

            if args.more:
                loss += out.abs().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
