import torch


def main(args, model):
    if args.local_rank != -1:
        try:
            from apex.parallel import DistributedDataParallel as DDP
        except ImportError:
            raise ImportError("Please install apex.")

        model = DDP(model)
    train(model)
    if args.do_test:
        model = build()
        if args.local_rank != -1:
            try:
                from apex.parallel import DistributedDataParallel as DDP
            except ImportError:
                raise ImportError("Please install apex.")

            model = DDP(model)
        test(model)
