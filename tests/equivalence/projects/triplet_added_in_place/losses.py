import torch
import torch.nn as nn
import torch.nn.functional as F


def euclidean_dist(x, y):
    m, n = x.size(0), y.size(0)
    xx = x.float().pow(2).sum(1, keepdim=True).expand(m, n)
    yy = y.float().pow(2).sum(1, keepdim=True).expand(n, m).t()
    dist = xx + yy
    dist.addmm_(x, y.t(), beta=1, alpha=-2)
    return dist.clamp(min=1e-12).sqrt()


class TripletLoss(nn.Module):
    def __init__(self, margin):
        super().__init__()
        self.margin = margin

    def forward(self, inputs, targets):
        dist = euclidean_dist(inputs, inputs)
        n = inputs.size(0)
        mask = targets.expand(n, n).eq(targets.expand(n, n).t())
        ap = torch.stack([dist[i][mask[i]].max() for i in range(n)])
        an = torch.stack([dist[i][mask[i] == 0].min() for i in range(n)])
        return F.margin_ranking_loss(an, ap, torch.ones_like(an), margin=self.margin)
