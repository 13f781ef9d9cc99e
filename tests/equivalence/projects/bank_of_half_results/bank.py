import torch
import torch.nn.functional as F


class Bank:
    def __init__(self, n, d):
        self.z = torch.zeros(n, d)
        self.w = torch.eye(d)

    def update(self, idx, out):
        self.z[idx] = F.softmax(out.detach(), 1)

    def similar(self, out):
        return (out.detach() @ self.w.t()).max().item()


class Thresholds:
    def confident(self, out):
        conf = F.softmax(out.detach(), 1).max(1)[0]
        return torch.quantile(conf, 0.7).item()


def spread(out):
    return widest(out)


def widest(out):
    return torch.quantile(F.softmax(out.detach(), 1), 0.9).item()
