import argparse

import torch
from apex import amp

from save import TrainingRestorer, log


def main(opts):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=opts.lr)
    model, optimizer = amp.initialize(model, optimizer, enabled=opts.fp16, opt_level="O1")
    restorer = TrainingRestorer(opts, model, optimizer)
    for step in range(opts.steps):
        loss = model(torch.rand(3, 4)).pow(2).mean()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        log(step, loss.item())
        restorer.save()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--path", default="restore.pt")
    parser.add_argument("--fp16", action="store_true")
    main(parser.parse_args())
