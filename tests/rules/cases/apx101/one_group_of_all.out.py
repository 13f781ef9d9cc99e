import torch
import torch.nn as nn
from torch.nn import SyncBatchNorm

norm = SyncBatchNorm(64, process_group=None)
