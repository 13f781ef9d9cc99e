# expect: review
# shape: an accelerator made below the optimizer initializes, scales and clips; whoever uses it steps, in an arm as well

import torch
import torch.nn as nn

from accelerators.apex_ddp import ApexAccelerator
from options import Options


def train(model, loader, optimizer, config, accelerator):
    losses = []
    for i, (x, y) in enumerate(loader):
        if i % 3 == 1:
            x, y = x.flip(0), y.flip(0)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            accelerator.backward_step(loss, optimizer)
            limit = float(config["accelerator"]["CLIP_GRAD_NORM"])
            if limit > 0:
                accelerator.optimizer_step(optimizer, model, limit)
            optimizer.step()
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        if i == 2:
            loss = loss * 1e37
        accelerator.backward_step(loss, optimizer)
        limit = float(config["accelerator"]["CLIP_GRAD_NORM"])
        if limit > 0:
            accelerator.optimizer_step(optimizer, model, limit)
        optimizer.step()
        losses.append(loss.item())
    return losses


def main(level="O1"):
    config = {"lr": 0.1, "accelerator": {"FP16_OPT_LEVEL": level, "SYNCBN": False, "CLIP_GRAD_NORM": 1.0}}
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=0.9)
    accelerator = ApexAccelerator(Options(config["accelerator"]), logger=None)
    model, optimizer = accelerator.set_up(model, optimizer)
    loader = [(torch.randn(6, 4), torch.randint(0, 3, (6,))) for _ in range(5)]
    losses = train(model, loader, optimizer, config, accelerator)
    return losses, list(model.parameters())


if __name__ == "__main__":
    print(main())
