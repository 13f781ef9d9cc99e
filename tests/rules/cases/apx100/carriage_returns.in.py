from apex.parallel import DistributedDataParallel as DDP

if args.distributed:
	model = DDP(
		model,
		delay_allreduce=False,
	)
