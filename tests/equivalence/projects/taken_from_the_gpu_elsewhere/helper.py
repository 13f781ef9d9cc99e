import numpy as np
import torch


def to_np(t):
    return t.detach().cpu().numpy()


def norm_rows(t):
    a = to_np(t)
    return float(np.linalg.norm(a)), str(a.dtype)


class Index:
    def __init__(self):
        self.rows = []

    def add(self, x):
        assert x.dtype == np.float32, x.dtype
        self.rows.append(x)


class Saver:
    def __init__(self):
        self.out = []

    def __call__(self, o):
        self.out.append(o.data.cpu())

    def result(self):
        return str(torch.cat(self.out).numpy().dtype)
