import torch


def build(params, lr):
    return torch.optim.AdamW(params, lr=lr, weight_decay=0.0, fused=True)
