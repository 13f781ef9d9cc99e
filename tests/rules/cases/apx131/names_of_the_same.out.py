import torch


@torch.no_grad()
def multi_tensor_scale(chunk_size, noop_flag, tensor_lists, scale):
    """``out = source * scale`` for two lists of tensors; noop_flag is 1 where a source is not finite."""
    for source, out in zip(*tensor_lists):
        noop_flag.masked_fill_(~torch.isfinite(source).all(), 1)
        out.copy_(source.float() * scale)


def multi_tensor_applier(op, noop_flag, tensor_lists, *args):
    """Calls a function of many tensors; how many numbers a kernel took at a time makes no difference here."""
    return op(2048 * 32, noop_flag, tensor_lists, *args)


def copy(these, those, flag):
    multi_tensor_applier(multi_tensor_scale, flag, [these, those], 1.0)
