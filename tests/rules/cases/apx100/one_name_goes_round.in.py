# expect: manual what is called here may be DistributedDataParallel or another
from apex.parallel import DistributedDataParallel

for student in students:
    networks.append(DistributedDataParallel(student))
    if args.plain:
        from torch.nn.parallel import DistributedDataParallel
