import torch


def main(args, model):
    if args.local_rank != -1:
        from torch.nn.parallel import DistributedDataParallel as DDP

        model = DDP(model, broadcast_buffers=False)
    train(model)
    if args.do_test:
        model = build()
        if args.local_rank != -1:
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(model, broadcast_buffers=False)
        test(model)
