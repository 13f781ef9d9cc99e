import torch


def make_data(n):
    return [(torch.randn(4, 4), torch.randint(0, 2, (4,))) for _ in range(n)]
