from megatron.core.distributed import DistributedDataParallel as LocalDDP
from megatron.model import DistributedDataParallel as torchDDP

model = LocalDDP(config, torchDDP(model), accumulate_allreduce_grads_in_fp32=True)
