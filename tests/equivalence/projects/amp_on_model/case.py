# expect: safe

import torch
import torch.nn as nn
from apex import amp

from optimize import optimize


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)


def main():
    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    model.amp = amp
    return [optimize(model, optimizer, torch.randn(4, 3)) for _ in range(3)], list(model.parameters())


if __name__ == "__main__":
    print(main())
