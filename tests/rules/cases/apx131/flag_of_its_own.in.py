# expect: review multi_tensor_l2norm is written out here
# The flag says whether a build of Apex is there.
import torch

try:
    from amp_C import multi_tensor_l2norm

    multi_tensor_l2norm_available = True
except ImportError:
    multi_tensor_l2norm_available = False


def total_norm(grads):
    if multi_tensor_l2norm_available:
        flag = torch.zeros((1, 1), dtype=torch.int, device=grads[0].device)
        return multi_tensor_l2norm(2048 * 32, flag, [grads], False)[0]
    return torch.norm(torch.stack([torch.norm(g) for g in grads]))
