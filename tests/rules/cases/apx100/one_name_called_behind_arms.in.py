# expect: review by the same name torch's own is called here
if args.fp16:
    from apex.parallel import DistributedDataParallel
else:
    from torch.nn.parallel import DistributedDataParallel

student = DistributedDataParallel(student)
