import torch


def build(model, args):
    if args.fused:
        from apex.optimizers import FusedAdam

        return FusedAdam(model.parameters(), lr=args.lr, betas=args.betas, eps=args.eps)
    return torch.optim.Adam(model.parameters(), lr=args.lr)
