import torch


def batches(n, seed, bad=()):
    g = torch.Generator().manual_seed(seed)
    out = []
    for i in range(n):
        x = torch.randn(8, 6, generator=g)
        if i in bad:
            x = x * 1e30
        out.append((x, torch.randint(0, 3, (8,), generator=g)))
    return out
