import torch


@torch.no_grad()
def multi_tensor_axpby(chunk_size, noop_flag, tensor_lists, a, b, arg_to_check=-1):
    """``out = a * x + b * y`` for three lists of tensors; noop_flag is 1 where x (0), y (1) or one of both (-1) is not
    finite."""
    for x, y, out in zip(*tensor_lists):
        for number, one in enumerate((x, y)):
            if arg_to_check in (-1, number):
                noop_flag.masked_fill_(~torch.isfinite(one).all(), 1)
        out.copy_(a * x.float() + b * y.float())


def average(decay, weights, averages, flag):
    multi_tensor_axpby(65536, flag, [averages, weights, averages], decay, 1 - decay, -1)
