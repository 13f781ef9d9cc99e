import torch
import torch.nn as nn


def gates(scores):
    return torch.softmax(scores, dim=-1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.value = nn.Linear(4, 6), nn.Linear(4, 6)
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        scores = self.score(x)
        keep = x[:, 0] > -9
        out = torch.zeros_like(scores)
        out[keep] = gates(scores)[keep]
        return self.head(out * self.value(x))
