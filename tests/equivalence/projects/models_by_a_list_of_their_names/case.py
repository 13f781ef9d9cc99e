# expect: review
# What the trainer keeps by a list of names is its models alone, and not the options beside them.

from types import SimpleNamespace

import torch
from data import batches
from model import Net
from trainer import NetTrainer


def main():
    torch.manual_seed(0)
    trainer = NetTrainer(Net(), SimpleNamespace(amp=1, clip_grad_norm=1.0, accumulate_gradients=2))
    losses = [trainer.step(x, y) for x, y in batches(6, 1, bad=(2,))]
    return losses, [p.sum() for p in trainer.model.parameters()]


if __name__ == "__main__":
    print(main())
