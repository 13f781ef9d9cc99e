# expect: manual Apex's has no such argument
from apex.parallel import DistributedDataParallel as DDP

model = DDP(model, device_ids=[args.local_rank])
