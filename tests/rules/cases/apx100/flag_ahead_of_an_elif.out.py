import torch


def main(args, model, has_native_amp):
    if args.amp:
        args.apex_amp = True
    return torch.nn.parallel.DistributedDataParallel(model, broadcast_buffers=False)
