if args.fp16:
    from torch.nn.parallel import DistributedDataParallel

    student = DistributedDataParallel(student, broadcast_buffers=False)
else:
    from torch.nn.parallel import DistributedDataParallel

    student = DistributedDataParallel(student, device_ids=[args.local_rank], find_unused_parameters=True)
