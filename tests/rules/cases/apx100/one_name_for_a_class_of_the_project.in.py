# expect: manual what is called here may be DistributedDataParallel or another
if args.fp16:
    from apex.parallel import DistributedDataParallel
else:
    from ours.parallel import DistributedDataParallel

student = DistributedDataParallel(student)
