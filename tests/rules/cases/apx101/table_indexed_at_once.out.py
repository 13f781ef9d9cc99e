import torch.nn as nn


def norm(kind):
    return {"BN": nn.BatchNorm2d, "SyncBN": nn.SyncBatchNorm}[kind]
