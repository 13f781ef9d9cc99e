# expect: review float64 is handed to a model or a loss here
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp
from torch.utils.data import DataLoader, Dataset, TensorDataset


class Points(Dataset):
    def __init__(self, count):
        rng = np.random.RandomState(3)
        self.x, self.y = rng.rand(count, 4), rng.rand(count, 2)

    def __getitem__(self, index):
        return torch.from_numpy(self.x[index]), torch.from_numpy(self.y[index]).float()


def grid(count):
    return torch.linspace(0, 1, count * 4, dtype=torch.float64).view(count, 4)


def main():
    model = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    criterion = nn.SmoothL1Loss()
    x, y = torch.tensor(np.random.rand(12, 4)), torch.tensor(np.random.rand(12, 2))
    weight = torch.tensor(np.array([0.3, 0.7])).cuda()
    seen = TensorDataset(x, y)
    for (a, b), (c, d) in zip(DataLoader(Points(12)), DataLoader(seen)):
        loss = F.mse_loss(model(a.cuda()), b) + criterion(model(c), d)
        loss = loss + F.cross_entropy(model(grid(6)), torch.arange(6) % 2, weight=weight)
        loss = loss + F.mse_loss(model(a.float()), torch.from_numpy(np.ones((1, 2), dtype=np.float32)))
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        print((b.double() - model(a.float()).double()).abs().mean().item())
