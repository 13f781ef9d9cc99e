# expect: safe

from types import SimpleNamespace

import torch
import torch.nn as nn

from steps import training_step, update
from trainer import Trainer


def main():
    args = SimpleNamespace(fp16=True, fp16_opt_level="O1", accum=2)
    torch.manual_seed(0)
    model = nn.Linear(5, 3)
    trainer = Trainer(args, model, torch.optim.SGD(model.parameters(), lr=0.1))
    losses = []
    for i in range(8):
        losses.append(training_step(trainer, (torch.randn(4, 5), torch.randint(0, 3, (4,)))))
        if (i + 1) % args.accum == 0:
            update(trainer)
    return losses, list(trainer.model.parameters())


if __name__ == "__main__":
    print(main())
