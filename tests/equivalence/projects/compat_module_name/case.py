# expect: safe

import torch
import torch.nn as nn

import common
import worker


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 5), nn.ReLU(), nn.Linear(5, 1))
    optim = torch.optim.RMSprop(model.parameters(), lr=0.01)
    if common.has_apex:
        model, optim = common.amp.initialize(model, optim, opt_level="O1")
    losses = worker.work(model, optim, [(torch.randn(4, 5), torch.randn(4, 1)) for _ in range(5)])
    return losses, list(model.parameters())


if __name__ == "__main__":
    print(main())
