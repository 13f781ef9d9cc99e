# expect: safe

import torch
import torch.nn as nn

from callbacks import ClipCallback
from trainer import Trainer


def main():
    torch.manual_seed(0)
    clip = ClipCallback(0.5)
    trainer = Trainer(nn.Linear(3, 1), [clip])
    out = trainer.fit([(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(3)])
    return out, clip.seen, list(trainer.model.parameters())


if __name__ == "__main__":
    print(main())
