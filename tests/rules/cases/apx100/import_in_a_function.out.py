import torch


def distribute(model, args):
    if args.local_rank != -1:
        from torch.nn.parallel import DistributedDataParallel as DDP

        model = DDP(model, broadcast_buffers=False, find_unused_parameters=True)
    elif args.n_gpu > 1:
        model = torch.nn.DataParallel(model)
    return model
