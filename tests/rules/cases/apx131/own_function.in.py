import torch


def multi_tensor_l2norm(chunk_size, flag, tensor_lists, per_tensor):
    return torch.stack([one.norm() for one in tensor_lists[0]]).norm(), None


norm, _ = multi_tensor_l2norm(65536, flag, [grads], False)
