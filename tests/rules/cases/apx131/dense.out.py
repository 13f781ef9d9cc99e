import torch


def gather(tensors):
    flat = torch._utils._flatten_dense_tensors(tensors)
    torch.distributed.all_reduce(flat)
    return torch._utils._unflatten_dense_tensors(flat, tensors)
