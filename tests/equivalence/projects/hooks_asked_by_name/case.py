# expect: review

import torch
from hooks import Losses, Norms
from learner import Learner
from mixed import MixedPrecision
from torch import nn


def main():
    torch.manual_seed(8)
    model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
    losses, norms = Losses(), Norms()
    learn = Learner(model, opt, nn.MSELoss(), [MixedPrecision("O1"), losses, norms])
    data = [(torch.randn(8, 6), torch.randn(8, 1)) for _ in range(4)]
    data[1] = (data[1][0] * 1e25, data[1][1])
    learn.fit(3, data)
    return losses.values, norms.values, [p.sum() for p in model.parameters()]


if __name__ == "__main__":
    main()
