import torch


def multi_tensor_applier(op, noop_flag, tensor_lists, *args):
    """Calls a function of many tensors; how many numbers a kernel took at a time makes no difference here."""
    return op(2048 * 32, noop_flag, tensor_lists, *args)


multi_tensor_applier(op, flag, lists, 1.0)
