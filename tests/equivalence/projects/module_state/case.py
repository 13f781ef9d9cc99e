# expect: manual

import torch
import torch.nn as nn

import mixed


def main():
    torch.manual_seed(0)
    model = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = mixed.setup(model, optimizer)
    losses = []
    for i in range(5):
        optimizer.zero_grad()
        loss = model(torch.randn(2, 3)).pow(2).mean()
        if i == 2:
            loss = loss * 1e37
        mixed.backward(loss)
        optimizer.step()
        losses.append(loss.item())
    return losses, list(model.parameters())


if __name__ == "__main__":
    print(main())
