# expect: safe
# shape: the main file takes functions that prepare and train from a package that hands on its engine with a star

import torch
import torch.nn as nn
from lib import *


def loss_of(model, x, y):
    return nn.functional.cross_entropy(model(x), y)


def main():
    torch.manual_seed(37)
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = prepare(model, optimizer, True)
    batches = [(torch.randn(4, 4), torch.arange(4) % 3) for _ in range(4)]
    batches[1] = (batches[1][0] * 1e36, batches[1][1])  # an overflow
    losses = [train_one(model, optimizer, loss_of, batch, True) for batch in batches]
    with torch.no_grad():
        return losses, evaluate(model, [x for x, _ in batches]), list(model.parameters())


if __name__ == "__main__":
    print(main())
