# expect: safe

import torch
import torch.nn as nn
from apex import amp

from accumulate import Accumulator
from report import report


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    acc = Accumulator(optimizer, every=2, max_norm=1.0)
    losses = []
    for i in range(10):
        loss = nn.functional.mse_loss(model(torch.randn(3, 4)), torch.ones(3, 1)) / acc.every
        if i == 5:
            loss = loss * 1e37
        acc.backward(loss)
        losses.append(report(loss))
    return losses, acc.steps, list(model.parameters())


if __name__ == "__main__":
    print(main())
