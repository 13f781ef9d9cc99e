import torch
import torch.nn as nn
import torch.nn.functional as F


class DiceBCE(nn.Module):
    def __init__(self, weight=0.5):
        super().__init__()
        self.weight = weight

    def forward(self, logits, target):
        probs = torch.sigmoid(logits)
        bce = F.binary_cross_entropy(probs, target)
        inter = (probs * target).sum()
        dice = 1 - (2 * inter + 1) / (probs.sum() + target.sum() + 1)
        return self.weight * bce + (1 - self.weight) * dice
