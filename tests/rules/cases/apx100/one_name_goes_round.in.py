# expect: review by the same name torch's own is called here
from apex.parallel import DistributedDataParallel

for student in students:
    networks.append(DistributedDataParallel(student))
    if args.plain:
        from torch.nn.parallel import DistributedDataParallel
