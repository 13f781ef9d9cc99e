import torch


def build(params, **kwargs):
    return torch.optim.AdamW(params, fused=True, **{"weight_decay": 0.0, **kwargs})
