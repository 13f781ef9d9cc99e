import torch.nn as nn


class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.enc = nn.Linear(5, cfg["dim"])

    def forward(self, x):
        return self.enc(x)

    def embed(self, x):
        return self.enc(x) * 2
