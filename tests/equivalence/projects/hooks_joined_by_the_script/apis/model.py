import torch.nn as nn
import torch.nn.functional as F


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 1)

    def forward(self, x, y):
        return F.mse_loss(self.head(x), y)

    def train_step(self, batch):
        loss = self(*batch)
        return {"loss": loss, "log": float(loss)}
