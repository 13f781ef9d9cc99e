# expect: manual apex.parallel is not migrated
from apex.parallel import DistributedDataParallel as DDP

model = DDP(model)
