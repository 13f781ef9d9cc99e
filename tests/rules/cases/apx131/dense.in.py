import apex_C  # which apex builds
import torch


def gather(tensors):
    flat = apex_C.flatten(tensors)
    torch.distributed.all_reduce(flat)
    return apex_C.unflatten(flat, tensors)
