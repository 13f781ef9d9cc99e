import torch


def build(model, args):
    if args.fused:
        return torch.optim.AdamW(
            model.parameters(),
            lr=args.lr,
            betas=args.betas,
            eps=args.eps,
            weight_decay=0.0,
            fused=True,
        )
    return torch.optim.Adam(model.parameters(), lr=args.lr)
