from torch import optim
from apex.optimizers import FusedAdam


def make(args, parameters, weight_decay):
    opt_args = dict(lr=args.lr, weight_decay=weight_decay)
    if args.opt_eps is not None:
        opt_args['eps'] = args.opt_eps
    opt_args.pop('betas', None)
    if args.opt == 'fusedadamw':
        return FusedAdam(parameters, adam_w_mode=True, **opt_args)
    return optim.SGD(parameters, **opt_args)


def another(args, parameters, weight_decay):
    opt_args = dict(lr=args.lr, weight_decay=weight_decay, **args.more)
    if args.plain:
        opt_args.pop('weight_decay')
    return FusedAdam(parameters, **opt_args)


def third(args, parameters):
    opt_args = dict(lr=args.lr, weight_decay=0.1, **args.more)
    tune(opt_args)
    return FusedAdam(parameters, **opt_args)
