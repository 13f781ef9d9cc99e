import torch.nn as nn


def reset(m):
    if isinstance(m, (nn.LayerNorm, nn.GroupNorm)):
        m.reset_parameters()
