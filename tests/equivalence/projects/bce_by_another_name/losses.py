import torch
from torch import nn
from torch.nn import BCELoss as Entropy
from torch.nn.functional import binary_cross_entropy as bce


class DiceBCE(nn.Module):
    def __init__(self):
        super().__init__()
        self.entropy = Entropy()

    def forward(self, logits, target):
        probs = torch.sigmoid(logits)
        overlap = 1 - (2 * (probs * target).sum() + 1) / (probs.sum() + target.sum() + 1)
        return overlap + bce(probs, target) + 0.1 * self.entropy(probs, target)
