from torch.nn.parallel import DistributedDataParallel as DDP

if args.distributed:
	model = DDP(
		model,
		broadcast_buffers=False,
	)
