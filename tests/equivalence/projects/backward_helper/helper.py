import torch

try:
    from apex import amp
except ImportError:
    pass


def init_amp(args, model, optimizer):
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level=args.opt_level)
    return model, optimizer


def backward(args, loss, optimizer):
    if args.fp16:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()


def clip_and_step(args, model, optimizer):
    params = amp.master_params(optimizer) if args.fp16 else model.parameters()
    norm = torch.nn.utils.clip_grad_norm_(params, args.max_norm)
    optimizer.step()
    model.zero_grad()
    return norm
