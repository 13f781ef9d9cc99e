# expect: review Apex's has no argument deay_allreduce, so this call raised
from apex.parallel import DistributedDataParallel as DDP

model = DDP(model, deay_allreduce=True)
