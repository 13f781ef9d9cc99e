import torch

norms = torch._foreach_norm(grads)
torch._foreach_mul_(grads, max_norm / torch.stack(norms).norm())
