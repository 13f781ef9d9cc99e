import torch

group = torch.distributed.new_subgroups(args.group)[0] if args.group else None
norm = torch.nn.SyncBatchNorm(8, process_group=group)
