# expect: safe

import torch
import torch.nn as nn

from variants import Clipped


def main():
    torch.manual_seed(0)
    trainer = Clipped(nn.Linear(3, 1), 0.1)
    out = trainer.run([(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(3)])
    return out, list(trainer.model.parameters())


if __name__ == "__main__":
    print(main())
