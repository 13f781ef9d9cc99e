# expect: review delay_allreduce=True did not mind
from apex.parallel import DistributedDataParallel as DDP

model = DDP(model.cuda(), 1e7, True)
