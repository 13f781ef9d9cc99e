import torch

if args.distributed:
    model = torch.nn.parallel.DistributedDataParallel(
        model, broadcast_buffers=False, find_unused_parameters=True
    )
