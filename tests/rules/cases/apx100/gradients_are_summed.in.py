# expect: manual gradients are summed over the processes and not averaged
from apex.parallel import DistributedDataParallel as DDP

model = DDP(model, gradient_average=False)
