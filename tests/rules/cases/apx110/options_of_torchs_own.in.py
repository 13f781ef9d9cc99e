from torch import optim


def make(args, parameters, weight_decay):
    opt_args = dict(lr=args.lr, weight_decay=weight_decay)
    return optim.AdamW(parameters, fused=True, **{"weight_decay": 0.0, **opt_args})
