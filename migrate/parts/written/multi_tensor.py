"""Functions of many tensors. Source: apex/multi_tensor_apply and csrc/multi_tensor_*_kernel.cu at tag 25.05."""

import torch


def multi_tensor_applier(op, noop_flag, tensor_lists, *args):
    """Calls a function of many tensors; how many numbers a kernel took at a time makes no difference here."""
    return op(2048 * 32, noop_flag, tensor_lists, *args)


@torch.no_grad()
def multi_tensor_l2norm(chunk_size, noop_flag, tensor_lists, per_tensor=False):
    """The norm of all tensors together and, if asked for, of each; noop_flag is 1 where one is not finite."""
    norms = torch.stack(torch._foreach_norm([one.float() for one in tensor_lists[0]]))
    noop_flag.masked_fill_(~torch.isfinite(norms).all(), 1)
    return norms.norm().reshape(1), norms if per_tensor else norms.new_empty(0)


@torch.no_grad()
def multi_tensor_scale(chunk_size, noop_flag, tensor_lists, scale):
    """``out = source * scale`` for two lists of tensors; noop_flag is 1 where a source is not finite."""
    for source, out in zip(*tensor_lists):
        noop_flag.masked_fill_(~torch.isfinite(source).all(), 1)
        out.copy_(source.float() * scale)


@torch.no_grad()
def multi_tensor_axpby(chunk_size, noop_flag, tensor_lists, a, b, arg_to_check=-1):
    """``out = a * x + b * y`` for three lists of tensors; noop_flag is 1 where x (0), y (1) or one of both (-1) is not
    finite."""
    for x, y, out in zip(*tensor_lists):
        for number, one in enumerate((x, y)):
            if arg_to_check in (-1, number):
                noop_flag.masked_fill_(~torch.isfinite(one).all(), 1)
        out.copy_(a * x.float() + b * y.float())


@torch.no_grad()
def multi_tensor_adam(
    chunk_size, noop_flag, tensor_lists, lr, beta1, beta2, eps, step, mode, bias_correction, weight_decay
):
    """One step of Adam for lists of gradients, weights and both averages; mode 0 adds the decay to the gradient."""
    first = 1 - beta1**step if bias_correction else 1.0
    second = 1 - beta2**step if bias_correction else 1.0
    for grad, p, exp_avg, exp_avg_sq in zip(*tensor_lists):
        grad, weight = grad.to(exp_avg.dtype), p.to(exp_avg.dtype)
        if mode == 0:
            grad = grad.add(weight, alpha=weight_decay)
        exp_avg.mul_(beta1).add_(grad, alpha=1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        update = (exp_avg / first) / ((exp_avg_sq / second).sqrt() + eps)
        if mode != 0:
            update = update.add(weight, alpha=weight_decay)
        p.copy_(weight.sub(update, alpha=lr))
