import torch.nn as nn


class Net(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.a = nn.Sequential(nn.Linear(6, width), nn.BatchNorm1d(width), nn.ReLU())
        self.b = nn.Linear(width, 3)
        self.module_list = nn.ModuleList([self.a])

    def forward(self, x):
        return self.b(self.a(x))
