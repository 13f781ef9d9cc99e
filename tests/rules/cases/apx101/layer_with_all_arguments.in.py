import torch
from apex.parallel import SyncBatchNorm as SyncBN

norm = SyncBN(
    64,
    1e-3,
    0.01,
    True,
    True,
    group,
    False,
    False,
)
