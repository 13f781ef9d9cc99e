# expect: review

import torch
import torch.nn as nn
from apex import amp

from engine import train_step


def main():
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    return [train_step(model, optimizer, torch.randn(4, 3)) for _ in range(3)], list(model.parameters())


if __name__ == "__main__":
    print(main())
