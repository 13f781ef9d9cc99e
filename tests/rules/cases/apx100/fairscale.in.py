from fairscale.nn.data_parallel import FullyShardedDataParallel as FSDP
from fairscale.nn.data_parallel import ShardedDataParallel as ApexDDP

model = ApexDDP(FSDP(model), optimizer)
