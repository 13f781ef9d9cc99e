import torch

group = torch.distributed.new_subgroups(args.group)[0] if args.group else None
model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model, process_group=group)
