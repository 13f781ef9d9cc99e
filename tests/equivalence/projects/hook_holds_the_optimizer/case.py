# expect: safe

import torch
from data import batches
from model import Net
from trainer import Trainer
from hooks import AmpHook


def main():
    torch.manual_seed(0)
    trainer = Trainer(Net().cuda(), batches(8, 1, bad=(3,)))
    trainer.register_hooks([AmpHook(trainer.optimizer)])
    trainer.train()
    return trainer.losses, [p.sum() for p in trainer.model.parameters()]


if __name__ == "__main__":
    print(main())
