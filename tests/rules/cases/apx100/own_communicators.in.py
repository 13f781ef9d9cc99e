# expect: manual own communicators for the gradients have no counterpart
from apex.parallel import DistributedDataParallel as DDP

model = DDP(model, num_allreduce_streams=2, allreduce_communicators=(groups, streams))
