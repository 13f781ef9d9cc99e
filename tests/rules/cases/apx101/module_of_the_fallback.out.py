from torch.nn import SyncBatchNorm
import torch.nn as nn


def count(model):
    return sum(isinstance(m, SyncBatchNorm) for m in model.modules())
