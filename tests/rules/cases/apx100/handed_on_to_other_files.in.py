# exported: DDP
from apex.parallel import DistributedDataParallel as DDP

model = DDP(model)
