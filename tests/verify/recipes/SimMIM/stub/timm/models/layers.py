from torch import nn
from torch.nn.init import trunc_normal_

__all__ = ["DropPath", "to_2tuple", "trunc_normal_"]


class DropPath(nn.Identity):
    pass


def to_2tuple(value):
    return value if isinstance(value, tuple) else (value, value)
