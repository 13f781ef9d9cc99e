# The flag says whether a build of Apex is there.
import torch


@torch.no_grad()
def multi_tensor_l2norm(chunk_size, noop_flag, tensor_lists, per_tensor=False):
    """The norm of all tensors together and, if asked for, of each; noop_flag is 1 where one is not finite."""
    norms = torch.stack(torch._foreach_norm([one.float() for one in tensor_lists[0]]))
    noop_flag.masked_fill_(~torch.isfinite(norms).all(), 1)
    return norms.norm().reshape(1), norms if per_tensor else norms.new_empty(0)


def total_norm(grads):
    flag = torch.zeros((1, 1), dtype=torch.int, device=grads[0].device)
    return multi_tensor_l2norm(2048 * 32, flag, [grads], False)[0]
