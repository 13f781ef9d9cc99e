# expect: review delay_allreduce=True
import torch


def distribute(model, args):
    if args.local_rank != -1:
        try:
            from apex.parallel import DistributedDataParallel as DDP
        except ImportError:
            raise ImportError("Please install apex from https://www.github.com/nvidia/apex to use distributed training.")

        model = DDP(model, delay_allreduce=True)
    elif args.n_gpu > 1:
        model = torch.nn.DataParallel(model)
    return model
