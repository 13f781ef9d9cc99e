if args.fp16:
    from apex.parallel import DistributedDataParallel

    student = DistributedDataParallel(student)
else:
    from torch.nn.parallel import DistributedDataParallel

    student = DistributedDataParallel(student, device_ids=[args.local_rank], find_unused_parameters=True)
