import torch.nn as nn
from apex.parallel import SyncBatchNorm, create_syncbn_process_group

norm = SyncBatchNorm(64, process_group=create_syncbn_process_group(4))
