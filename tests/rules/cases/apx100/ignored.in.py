# expect: manual left alone
from apex.parallel import DistributedDataParallel as DDP

model = DDP(model, delay_allreduce=True)  # apex2native: ignore
