# expect: review torch has no counterpart
import math


def scale(params, lr):
    from apex.optimizers import FusedNovoGrad as Opt
    return Opt(params, lr=lr)


from torch import nn
