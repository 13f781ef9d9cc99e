# expect: manual what is called here may be DistributedDataParallel or another
if args.fp16:
    from apex.parallel import DistributedDataParallel as DDP
else:
    from torch.nn.parallel import DistributedDataParallel as DDP

student = DDP(student, delay_allreduce=True)
