# expect: manual torch's wrapper has no disable_allreduce
from apex.parallel import DistributedDataParallel as DDP

model = DDP(model)
hooks.append(model.disable_allreduce)
