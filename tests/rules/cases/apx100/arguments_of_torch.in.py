# expect: manual Apex's has no such argument
try:
    from apex.parallel import DistributedDataParallel as DDP
except ImportError:
    from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(model, device_ids=[args.local_rank], output_device=args.local_rank)
