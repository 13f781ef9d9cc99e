import torch.nn as nn
from apex import parallel


def norm(kind):
    return {"BN": nn.BatchNorm2d, "SyncBN": parallel.SyncBatchNorm}[kind]
