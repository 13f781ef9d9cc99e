import torch
from torch.nn import SyncBatchNorm as SyncBN

norm = SyncBN(
    64,
    1e-3,
    0.01,
    True,
    True,
    group,
)
