# expect: manual DistributedFusedAdam has no counterpart
from apex.contrib.optimizers.distributed_fused_adam import DistributedFusedAdam

optimizer = DistributedFusedAdam(model.parameters(), lr=1e-3)
