# expect: manual what is called here may be DistributedDataParallel or another
from torch.nn.parallel import DistributedDataParallel as DDP
if args.fp16:
    from apex.parallel import DistributedDataParallel as DDP
if args.alone:
    DDP = wrapper_of_ours

student = DDP(student)
