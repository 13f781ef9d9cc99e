import torch
import torch.nn as nn
import torch.nn.functional as F


class Baseline(nn.Module):
    def __init__(self, dim, classes):
        super().__init__()
        self.base = nn.Linear(dim, 5)
        self.bottleneck = nn.BatchNorm1d(5)
        self.classifier = nn.Linear(5, classes, bias=False)

    def forward(self, x, label=None):
        global_feat = self.base(x)
        feat = self.bottleneck(global_feat)
        if self.training:
            return self.classifier(feat), global_feat
        return feat


def make_loss(cfg):
    def loss_func(score, feat, target):
        tri = feat.pow(2).sum(1).mean() * 0.01
        if cfg.MODEL.METRIC_LOSS_TYPE == "triplet":
            return F.cross_entropy(score, target) + tri
        return F.cross_entropy(score, target)
    return loss_func
